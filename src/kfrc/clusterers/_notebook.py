"""A fitted model at a glance, as HTML for notebooks: groups and their sizes, how it ended, which columns matter."""

from __future__ import annotations

import unicodedata
from html import escape
from typing import Any

import numpy as np

from kfrc.typing import FloatArray

_MAX_GROUPS = 12
"""Groups that are listed: more of them push the rest out of sight."""

_MAX_COLUMNS = 5
_LEAST_SHARE = 0.005
"""Share below which a column is not listed: it would be written as 0 %."""

_MAX_NAME = 48
"""Letters of a name: a cell of a notebook is narrow."""

_CLEAR = 0.9
"""Membership from which on a row is counted as belonging to one group; it is written beside the count."""

# Inherited colors and see-through grays: the same on the light and dark pages of every notebook.
_STYLE = """
.kfrc-glance{font:13px/1.45 system-ui,sans-serif;max-width:62em;margin:0 0 .6em;padding:.7em .9em;border-radius:6px;
border:1px solid rgba(128,128,128,.45);color:inherit;background:transparent;overflow-wrap:anywhere}
& p{margin:.15em 0}
& .kfrc-title{font-size:15px;font-weight:600}
& .kfrc-parts{display:flex;flex-wrap:wrap;gap:.8em 2.6em;margin:.5em 0}
& table{border-collapse:collapse;border:0;margin:0;table-layout:auto;font-size:inherit;color:inherit;
background:transparent}
& caption{text-align:left;caption-side:top;padding:0 0 .15em;color:inherit;opacity:.75;font-size:12px}
& tr,& tbody tr:nth-child(n),& th,& td{background:transparent;color:inherit;border:0;
padding:.08em .9em .08em 0;text-align:left;font-weight:400;vertical-align:middle;white-space:normal}
& .kfrc-number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
& .kfrc-group{white-space:nowrap}
& thead .kfrc-number{white-space:normal;overflow-wrap:normal;vertical-align:bottom}
& .kfrc-bar{width:7em;min-width:3em}
& .kfrc-bar div{height:.75em;border-radius:2px;background:#3d8fd1;min-width:2px;print-color-adjust:exact}
& .kfrc-warn{border-left:4px solid #d9822b;padding-left:.6em}
& .kfrc-hint{opacity:.75;font-size:12px}
& code{font-family:ui-monospace,monospace;font-size:12px;color:inherit;background:rgba(128,128,128,.16);
padding:.05em .3em;border-radius:3px}
""".replace("&", ".kfrc-glance" * 3)  # three times, so that rules of the notebook for tables do not win


def glance(model: Any) -> str:
    """A small piece of HTML that tells what a fitted model found; it needs no scripts and no other file.

    Parameters
    ----------
    model : FuzzyClusterer
        Fitted.

    Returns
    -------
    str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import FCM
    >>> from kfrc.clusterers._notebook import glance
    >>> "3 groups in 150 rows" in glance(FCM(3, random_state=0).fit(load_iris().data))
    True
    """
    n_rows, n_groups = model.memberships_.shape
    collapsed = n_groups > 1 and str(model.status_) == "collapsed"
    found = "No groups found" if collapsed else _count(n_groups, "group")
    parts = "" if collapsed else _sizes(model.memberships_) + _columns(model)
    warns = ' class="kfrc-warn"' if str(model.status_) != "converged" else ""
    return (
        f'<style>{_STYLE}</style><div class="kfrc-glance">'
        f'<p class="kfrc-title">{found} in {_count(n_rows, "row")}</p>'
        f"<p{warns}>{escape(_ending(model, collapsed=collapsed))}</p>"
        + (f'<div class="kfrc-parts">{parts}</div>' if parts else "")
        + '<p class="kfrc-hint"><code>model.report(X, "report.html")</code> writes a page that explains the result; '
        "<code>model.memberships_</code> holds how far every row belongs to every group.</p></div>"
    )


def column_shares(model: Any) -> FloatArray | None:
    """Shares of the columns in what tells the groups apart, as far as a fitted model knows them; None if it does not.

    Where centers are points, the scatter of the centers about their common center is known without the data.

    Parameters
    ----------
    model : FuzzyClusterer
        Fitted.

    Returns
    -------
    ndarray of shape (n_features,) or None
    """
    known = getattr(model, "contributions_", None)
    if known is not None:
        return np.asarray(known)
    centers = getattr(model, "cluster_centers_", None)
    if centers is None:
        return None
    present = np.isfinite(centers).any(axis=1)
    masses = model.fuzzifier_.value(model.memberships_).sum(axis=0)[present]
    apart = np.nan_to_num(centers[present] - masses @ np.nan_to_num(centers[present]) / masses.sum())
    between = masses @ np.square(apart)
    return between / between.sum() if 0 < between.sum() < np.inf else None


def _ending(model: Any, *, collapsed: bool) -> str:
    """How the fit ended, in plain words, and how clearly rows belong."""
    steps = _count(int(model.n_iter_), "step")
    if collapsed:
        return (
            "Every row belongs to all groups alike, so that nothing was found. A smaller m keeps groups apart; the "
            "warning of the fit says how small."
        )
    U = model.memberships_
    if U.shape[1] == 1:
        return "All rows are in one group."
    n_clear = int((U.max(axis=1) >= _CLEAR).sum())
    clear = f"{n_clear:,} of {_count(len(U), 'row')} belong to their groups with memberships of {_CLEAR:g} or more."
    if str(model.status_) == "converged":
        return f"The fit came to rest after {steps}. {clear}"
    return f"The fit was stopped after {steps}, before it came to rest: the result may still move. {clear}"


def _sizes(memberships: FloatArray) -> str:
    """Groups with their rows as bars, and the mean membership of these."""
    n_rows, n_groups = memberships.shape
    labels, largest = memberships.argmax(axis=1), memberships.max(axis=1)
    sizes = np.bincount(labels, minlength=n_groups)
    means = np.bincount(labels, largest, minlength=n_groups) / np.maximum(sizes, 1)
    rows = "".join(
        f'<tr><th scope="row" class="kfrc-group">group {i}</th>{_bar(sizes[i] / max(int(sizes.max()), 1))}'
        f'<td class="kfrc-number">{sizes[i]:,}</td><td class="kfrc-number">{100 * sizes[i] / n_rows:.0f} %</td>'
        f'<td class="kfrc-number">{f"{means[i]:.2f}" if sizes[i] else "–"}</td></tr>'
        for i in range(min(n_groups, _MAX_GROUPS))
    )
    head = (
        "<thead><tr><td></td><td></td>"
        '<th scope="col" class="kfrc-number">rows</th><th scope="col" class="kfrc-number">share</th>'
        '<th scope="col" class="kfrc-number">mean membership</th></tr></thead>'
    )
    more = f"<p>and {n_groups - _MAX_GROUPS:,} more</p>" if n_groups > _MAX_GROUPS else ""
    return (
        f"<div><table><caption>Sizes, numbered as in labels_</caption>{head}<tbody>{rows}</tbody></table>{more}</div>"
    )


def _columns(model: Any) -> str:
    """The columns that tell the groups apart, the most important first."""
    shares = column_shares(model) if model.memberships_.shape[1] > 1 else None
    if shares is None or len(shares) == 0 or not shares.max() >= _LEAST_SHARE:
        return ""
    names = getattr(model, "feature_names_in_", None)
    order = np.argsort(-shares, kind="stable")[:_MAX_COLUMNS]
    order = order[shares[order] >= _LEAST_SHARE].tolist()
    rows = "".join(
        f'<tr><th scope="row">{_name(f"x{j}" if names is None else names[j])}</th>{_bar(shares[j] / shares.max())}'
        f'<td class="kfrc-number">{100 * shares[j]:.0f} %</td></tr>'
        for j in order
    )
    rest = f" ({len(order)} of {len(shares):,})" if len(shares) > len(order) else ""
    return f"<div><table><caption>Columns that tell the groups apart{rest}</caption><tbody>{rows}</tbody></table></div>"


def _bar(share: float) -> str:
    return f'<td class="kfrc-bar" aria-hidden="true"><div style="width:{100 * float(share):.0f}%"></div></td>'


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _name(name: object) -> str:
    """A name as text: nothing in it can be markup, turn its neighbors or be longer than a line."""
    text = "".join(letter for letter in str(name) if unicodedata.category(letter) not in ("Cc", "Cf", "Cs"))
    text = text.strip() or "(blank)"
    return f"<bdi>{escape(text if len(text) <= _MAX_NAME else text[: _MAX_NAME - 1] + '…')}</bdi>"
