"""Anderson acceleration of the alternating minimization: a guess at its end from the last few steps."""

from __future__ import annotations

import numpy as np

from kfrc.typing import FloatArray

USUAL_MEMORY = 5
"""Steps that a step is extrapolated from: a third of the iterations to the same minimum, and more gain nothing."""

_RIDGE = 1e-10
"""Added to the diagonal of the small least-squares problem, relative to it: steps become parallel near the end."""


class Anderson:
    """A point from which the steps so far, combined linearly, say that no step is left: memberships, or centers.

    With steps r_k = g(U_k) − U_k the weights γ minimize ‖r_k − Σ_j γ_j (r_j − r_{j−1})‖, and the guess is
    g(U_k) − Σ_j γ_j (g(U_j) − g(U_{j−1})). It is only a guess: the caller keeps it if the objective is not above
    what it was.

    Parameters
    ----------
    memory : int
        Differences of steps that are combined; zero never guesses.

    References
    ----------
    H. F. Walker and P. Ni (2011). Anderson acceleration for fixed-point iterations. SIAM J. Numer. Anal. 49.
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self.forget()

    def forget(self) -> None:
        """Begin anew: the last guess was a bad one."""
        self._last: tuple[FloatArray, FloatArray] | None = None
        self._steps: list[FloatArray] = []
        self._images: list[FloatArray] = []

    def guess(self, here: FloatArray, image: FloatArray, step: FloatArray | None = None) -> FloatArray | None:
        """What to try instead of ``image`` = g(``here``), of the same shape; None if there is nothing yet.

        ``step`` is image − here in coordinates in which its length means something, if these are others.
        """
        if self._memory == 0:
            return None
        step = image - here if step is None else step
        if self._last is not None:
            self._images = [*self._images, (image - self._last[0]).ravel()][-self._memory :]
            self._steps = [*self._steps, (step - self._last[1]).ravel()][-self._memory :]
        self._last = image, step
        if not self._steps:
            return None
        steps = np.array(self._steps)
        inner = steps @ steps.T
        inner.flat[:: len(inner) + 1] *= 1.0 + _RIDGE
        try:
            weights = np.linalg.solve(inner, steps @ step.ravel())
        except np.linalg.LinAlgError:  # a step that was the same twice
            return None
        guess: FloatArray = image - (weights @ np.array(self._images)).reshape(image.shape)
        return guess if np.isfinite(guess).all() else None


def on_simplex(guess: FloatArray) -> FloatArray | None:
    """A guess at memberships (n_samples, n_clusters) with what is negative cut off; None if a row has nothing left."""
    guess = np.maximum(guess, 0.0)
    sums = guess.sum(axis=1, keepdims=True)
    return guess / sums if (sums > 0).all() else None
