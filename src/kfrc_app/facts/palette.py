"""Colors of clusters, distinct for color-blind readers, and their blending by membership (Figure 3 of the paper)."""

from __future__ import annotations

import colorsys

import numpy as np

from kfrc.typing import FloatArray

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
"""Okabe and Ito (2008), without black."""

BLUE, ORANGE, GREEN, PINK, SKY, VERMILION, YELLOW = OKABE_ITO

_GOLDEN_ANGLE = 0.381966
_LIGHTNESS = (0.38, 0.66, 0.52)


def cluster_colors(n_clusters: int) -> list[str]:
    """One color per cluster as ``#RRGGBB``.

    Beyond the seven of Okabe and Ito, hues are a golden angle apart and the lightness alternates.

    Examples
    --------
    >>> from kfrc_app.facts.palette import cluster_colors
    >>> cluster_colors(2)
    ['#0072B2', '#E69F00']
    """
    colors = list(OKABE_ITO[:n_clusters])
    for k in range(len(colors), n_clusters):
        rgb = colorsys.hls_to_rgb(k * _GOLDEN_ANGLE % 1.0, _LIGHTNESS[k % len(_LIGHTNESS)], 0.6)
        colors.append("#{:02X}{:02X}{:02X}".format(*(round(255 * channel) for channel in rgb)))
    return colors


def blend_colors(memberships: FloatArray) -> FloatArray:
    """Colors of rows as mixtures of the cluster colors.

    Parameters
    ----------
    memberships : ndarray of shape (n_samples, n_clusters)

    Returns
    -------
    ndarray of shape (n_samples, 3)
        Red, green and blue in [0, 1].
    """
    prototypes = [
        [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)] for color in cluster_colors(memberships.shape[1])
    ]
    return np.clip(memberships @ np.array(prototypes), 0.0, 1.0)
