"""Colors of clusters, distinct for color-blind readers, and their blending by membership (Figure 3 of the paper)."""

from __future__ import annotations

import colorsys

import numpy as np

from kfrc.typing import FloatArray

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
"""Okabe and Ito (2008), without black."""

BLUE, ORANGE, GREEN, PINK, SKY, VERMILION, YELLOW = OKABE_ITO

FURTHER = ("#523B14", "#0B0BDA", "#681D72", "#A655F6", "#87C58E", "#9B4B4B", "#B82E95", "#F6556A", "#708BDB")
"""Each as far as possible from all before it (in OKLab, also as color-blind readers see it), and seen on light and dark
paper."""

_GOLDEN_ANGLE = 0.381966
_LIGHTNESS = (0.38, 0.66, 0.52)


def cluster_colors(n_clusters: int) -> list[str]:
    """One color per cluster as ``#RRGGBB``.

    The seven of Okabe and Ito, then nine that are far from them and from each other; beyond these sixteen, hues are a
    golden angle apart and the lightness alternates. Colors alone never tell groups apart: letters stand beside them.

    Examples
    --------
    >>> from kfrc_app.facts.palette import cluster_colors
    >>> cluster_colors(2)
    ['#0072B2', '#E69F00']
    """
    colors = list((OKABE_ITO + FURTHER)[:n_clusters])
    for k in range(len(colors), n_clusters):
        rgb = colorsys.hls_to_rgb(k * _GOLDEN_ANGLE % 1.0, _LIGHTNESS[k % len(_LIGHTNESS)], 0.6)
        colors.append("#{:02X}{:02X}{:02X}".format(*(round(255 * channel) for channel in rgb)))
    return colors


def ink_on(color: str) -> str:
    """Black or white, whichever is read better on a color.

    Examples
    --------
    >>> from kfrc_app.facts.palette import ink_on
    >>> ink_on("#F0E442"), ink_on("#0072B2")
    ('#000000', '#FFFFFF')
    """
    luminance = relative_luminance(color)
    return "#000000" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "#FFFFFF"


def relative_luminance(color: str) -> float:
    """Of a color ``#RRGGBB``, as the Web Content Accessibility Guidelines define it."""
    channels = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


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
