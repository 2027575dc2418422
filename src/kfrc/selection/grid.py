"""What an automatic choice may choose from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from kfrc.criteria import Criterion
from kfrc.fuzzifiers import Fuzzifier
from kfrc.kernels import Kernel

KERNELS = ("sum", "product")
CRITERIA = ("sum", "gap")
FUZZIFIERS = ("complementary_root", "quadratic")
ANISOTROPIES = (1.0, 5.0, 25.0)
LEVELS = (4.0, 1.0, 0.5, 0.0)
FUZZINESS = (0.03, 0.1, 0.3, 0.6, 1.0)
"""What "auto" tries: names, α, levels of an additive kernel, and m as a share of the way from a hard partition to the
fuzzifier's default (complementary root: 1.03, 1.1, 1.3, 1.6, 2). Why these: docs/decisions/automatic-choice.md."""

_SHORT_ANISOTROPY = 5.0
_SHORT_LEVELS = (1.0, 0.5)
"""The largest α and the levels of a shorter path."""


@dataclass(frozen=True)
class Grid:
    """What may be chosen; a tuple of one leaves no choice.

    Attributes
    ----------
    kernels : tuple of Kernel
    criteria : tuple of Criterion
    anisotropies : tuple of float
    levels : tuple of (float or None)
        None leaves the level to the bandwidth search.
    fuzzifiers : tuple of Fuzzifier
        With their m.
    may_weigh_sizes : bool
        Whether memberships may weigh the sizes of clusters, if no fuzzifier comes close to what the judge believes.
    may_change_kernel : bool
        Whether another kernel may take the place of these: along paths, if a density judge is believed more than a
        mixture, or along axes of its own, if these are far from what the judge believes.
    """

    kernels: tuple[Kernel, ...]
    criteria: tuple[Criterion, ...]
    anisotropies: tuple[float, ...]
    levels: tuple[float | None, ...]
    fuzzifiers: tuple[Fuzzifier, ...]
    may_weigh_sizes: bool = False
    may_change_kernel: bool = False

    def searches(self) -> list[tuple[Kernel, Criterion, float]]:
        """Kernel, criterion, α: what one path of levels belongs to. Without anisotropy no criterion matters."""
        return [
            (kernel, criterion, anisotropy)
            for kernel, (k, criterion), anisotropy in product(self.kernels, enumerate(self.criteria), self.anisotropies)
            if anisotropy > 1 or k == 0 or None in self.levels
        ]

    def shortened(self) -> Grid:
        """A shorter path with the first of each kind, where proposals are needed but no candidates."""
        return replace(
            self,
            kernels=self.kernels[:1],
            criteria=self.criteria[:1],
            anisotropies=tuple(a for a in self.anisotropies if a <= _SHORT_ANISOTROPY) or self.anisotropies[:1],
            levels=tuple(level for level in self.levels if level in _SHORT_LEVELS) or self.levels[:1],
            fuzzifiers=self.fuzzifiers[:1],
        )

    def glimpse(self) -> Grid:
        """The shortest path: equal bandwidths at one level, to tell whether some columns are worth a longer one."""
        short = self.shortened()
        return replace(short, anisotropies=short.anisotropies[:1], levels=short.levels[:1])

    @property
    def is_a_choice(self) -> bool:
        """Whether there is more than one candidate."""
        return len(self.searches()) * len(self.levels) * len(self.fuzzifiers) > 1


def fuzziness_path(fuzzifier: Fuzzifier, shares: Sequence[float] = FUZZINESS) -> tuple[Fuzzifier, ...]:
    """The fuzzifier from nearly hard to its own m.

    Examples
    --------
    >>> from kfrc.fuzzifiers import ComplementaryRoot
    >>> from kfrc.selection import fuzziness_path
    >>> [round(t.m, 2) for t in fuzziness_path(ComplementaryRoot())]
    [1.03, 1.1, 1.3, 1.6, 2.0]
    """
    hard = fuzzifier.m_range.low
    return tuple(fuzzifier.with_m(hard + share * (fuzzifier.m - hard)) for share in shares)
