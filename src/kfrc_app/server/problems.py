"""What goes wrong, as one plain sentence beside the place that it concerns."""

from __future__ import annotations

from typing import Any

ENDED = (
    "The work ended before it was done, most likely because this computer ran out of memory: "
    "use fewer rows or columns, or close other programs, and try again."
)
"""What a run says whose process is gone, or one of the processes that it started."""


class PageError(Exception):
    """A request that cannot be fulfilled.

    Parameters
    ----------
    sentence : str
        For the user: what is wrong and what to do.
    status : int, default=422
        Of the answer.
    where : str, optional
        What it concerns: ``"file"``, ``"columns"``, ``"groups"``.
    column : str, optional
        The column that it concerns.
    """

    def __init__(self, sentence: str, *, status: int = 422, where: str = "", column: str | None = None) -> None:
        super().__init__(sentence)
        self.sentence, self.status, self.where, self.column = sentence, status, where, column

    @property
    def document(self) -> dict[str, Any]:
        """For the page."""
        return {"problem": self.sentence, "where": self.where, "column": self.column}
