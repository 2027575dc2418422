"""What bandwidths say about features: their importance, and how many of them count."""

from __future__ import annotations

import numpy as np

from kfrc._validation import as_array, check_bandwidths
from kfrc.typing import ArrayLike, FloatArray


def importance_weights(bandwidths: ArrayLike) -> FloatArray:
    r"""Importance of every feature, inversely proportional to its bandwidth.

    .. math:: W_j = \frac{1/\theta_j}{\sum_l 1/\theta_l}.

    Parameters
    ----------
    bandwidths : array-like of shape (n_features,)
        Positive bandwidths, of features on one scale (standardized). An infinite one switches a feature off.

    Returns
    -------
    ndarray of shape (n_features,)
        Weights that sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.metrics import importance_weights
    >>> importance_weights([1.0, 4.0, np.inf])
    array([0.8, 0.2, 0. ])
    """
    array = as_array(bandwidths, "bandwidths")
    if array.ndim != 1:
        raise ValueError(f"bandwidths must have shape (n_features,), got shape {array.shape}")
    if len(array) == 0:
        raise ValueError("bandwidths is empty: at least one feature is needed")
    checked = check_bandwidths(array, len(array))
    smallest = float(checked.min())
    if np.isinf(smallest):
        raise ValueError("all bandwidths are infinite: no feature is left to weigh")
    # Relative to the smallest, because 1/θ overflows for tiny bandwidths.
    relative = smallest / checked
    return relative / relative.sum()


def effective_n_features(bandwidths: ArrayLike) -> float:
    r"""Effective number of features, from the importance weights W of the bandwidths.

    .. math:: W_{\mathrm{eff}} = \frac{1}{\sum_j W_j^2}.

    Parameters
    ----------
    bandwidths : array-like of shape (n_features,)
        Positive bandwidths, of features on one scale (standardized). An infinite one switches a feature off.

    Returns
    -------
    float
        Between 1 (a single feature counts) and the number of finite bandwidths (all count alike).

    See Also
    --------
    importance_weights : W.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.metrics import effective_n_features
    >>> effective_n_features([2.0, 2.0, np.inf])
    2.0
    """
    return float(1.0 / np.sum(importance_weights(bandwidths) ** 2))
