"""How fitted models present themselves: a report for readers, a glance in notebooks."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

from sklearn.utils.validation import check_is_fitted

from kfrc.clusterers._notebook import glance
from kfrc.typing import ArrayLike

EXTENSIONS = "kfrc.extensions"
"""Entry points by which the application is found: the library does not know it."""

_INSTALL = "type pip install . in its folder"


class Presented:
    """What estimators show of themselves, besides numbers."""

    def report(
        self,
        X: ArrayLike,
        path: Any = None,
        *,
        labels: Any = None,
        ids: Any = None,
        title: str | None = None,
        sample_weight: ArrayLike | None = None,
        n_refits: int = 20,
        n_jobs: int | None = None,
    ) -> Any:
        """Explain the result on one page that works offline: groups, whether to trust them, columns, rows in between.

        It is made by the application, which the library alone (``packaging/core``) does not have.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or table
            What the model was fitted on: a table, or the precomputed matrix.
        path : str or path, optional
            File to write, or a folder for ``report.html``. Without it the page is returned, to be seen in a notebook.
        labels : sequence, optional
            Known classes of the rows, to compare the groups with; None, NaN and blank text are unknown.
        ids : sequence, optional
            Names of the rows; the index of a DataFrame by default.
        title : str, optional
            What the data are called on the page.
        sample_weight : array-like of shape (n_samples,), optional
            What the model was fitted with.
        n_refits : int, default=20
            How often the whole procedure is fitted again on other rows, to say whether the groups can be trusted, see
            :func:`kfrc.confidence.assess`. They take most of the time; with 0 the page says that nothing was tried.
        n_jobs : int, optional
            Processes for the refits.

        Returns
        -------
        pathlib.Path or Report
            The file that was written; or an object that notebooks show as the page, with ``save(path)``.
        """
        check_is_fitted(self)
        return _extension("report")(
            self,
            X,
            path,
            labels=labels,
            ids=ids,
            title=title,
            sample_weight=sample_weight,
            n_refits=n_refits,
            n_jobs=n_jobs,
        )

    def _repr_html_inner(self) -> str:
        diagram: str = super()._repr_html_inner()  # type: ignore[misc]  # of scikit-learn's base class
        return self._with_glance(diagram)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._with_glance(bundle["text/html"])
        return bundle

    def _with_glance(self, diagram: str) -> str:
        """The diagram of scikit-learn, below what a fitted model found."""
        return glance(self) + diagram if hasattr(self, "memberships_") else diagram


def _extension(name: str) -> Callable[..., Any]:
    """What the application declares under a name; the error says what to install."""
    found = tuple(entry_points(group=EXTENSIONS, name=name))
    if not found:
        raise ImportError(f"a {name} is made by the application of kfrc, which is not installed: {_INSTALL}")
    try:
        loaded: Callable[..., Any] = found[0].load()
    except ImportError as error:
        package = (error.name or "another package").partition(".")[0]
        raise ImportError(f"the package {package} is needed for a {name}: {_INSTALL}", name=error.name) from error
    return loaded
