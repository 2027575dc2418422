"""Displays and reports of models that were fitted on tables of strangers."""

from __future__ import annotations

import html
import io
import re
from pathlib import Path
from typing import Any

import numpy as np

from hostile.attack import FINE, REFUSED, Broken
from hostile.pages import NO_NUMBER, check_page
from hostile.strangers import draw_strange, write_matrix, write_strange


def draw_one(rng: np.random.Generator, folder: Path) -> str:
    """Fit a model as a notebook would, then draw it in two ways or write its report."""
    import matplotlib

    from kfrc_app.tables import DataError, Missing, read_dissimilarities, read_table

    matplotlib.use("Agg")
    weights = labels = None
    try:
        if rng.random() < 0.12:
            path, table = write_matrix(rng, folder)
            X: Any = read_dissimilarities(str(path)).matrix
        else:
            path, table = write_strange(draw_strange(rng), folder, rng)
            found = read_table(
                str(path),
                missing=Missing.PARTIAL,
                weight_column=table.roles.get("--weight-column"),
                label_column=table.roles.get("--label-column"),
            )
            X, weights, labels = found.data, found.weights, found.labels
    except DataError:
        return REFUSED
    model = _fitted(X, weights, path.stem == "matrix", rng)
    if model is None:
        return REFUSED
    if rng.random() < 0.3:
        return _reported(model, X, weights, labels, table.says_such(), folder, rng)
    return _drawn(model, X, weights, table.says_such(), rng)


def _fitted(X: Any, weights: Any, matrix: bool, rng: np.random.Generator) -> Any:
    import warnings

    from kfrc import FCM, FRC, KFRC

    n_clusters = int(rng.choice([1, 2, 3, 3, 12, max(len(X) - 1, 1)]))
    given = {"n_clusters": n_clusters, "random_state": 0}
    if matrix:
        model: Any = FRC(metric="precomputed", m=float(rng.choice([1.3, 2.0, 60.0])), **given)
    elif rng.random() < 0.15:
        model = FCM(**given)
    else:
        fuzziness = {"fuzzifier": "power", "m": 60.0} if rng.random() < 0.2 else {"m": 1.5}
        model = KFRC(level=1.0, max_anisotropy=1.0, n_starts=1, missing="partial", **fuzziness, **given)
    weighted = {} if weights is None else {"sample_weight": weights}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a fit warns of is looked at elsewhere
        try:
            return model.fit(X, **weighted)
        except (ValueError, TypeError):
            return None


def _reported(model, X, weights, labels, says_such, folder, rng) -> str:
    from kfrc import KFRCError

    ids = [f"<b>{k}</b>" for k in range(len(X))] if rng.random() < 0.3 else None
    given = {"labels": labels, "ids": ids, "n_refits": int(rng.choice([0, 2])), "sample_weight": weights}
    title = str(rng.choice(["</title><script>", "{{ 1 }}", "plain", ""])) or None
    says_such = says_such or title == "{{ 1 }}"
    to_file = rng.random() < 0.5
    try:
        report = model.report(X, folder / "report.html" if to_file else None, title=title, **given)
    except KFRCError as error:
        if not str(error).strip() or (folder / "report.html").exists():
            raise Broken("a report is refused without a word, or leaves a file") from None
        return REFUSED
    if to_file:
        check_page(report.read_text("utf-8"), says_such=says_such)
        return FINE
    shown = report._repr_html_()
    frame = re.fullmatch(r'<iframe srcdoc="([^"<>]*)" sandbox="([^"]*)" [^<>]*></iframe>', shown)
    if frame is None or "same-origin" in frame[2]:
        raise Broken("a notebook gets something else than one frame")
    check_page(html.unescape(frame[1]), says_such=says_such)
    return FINE


def _drawn(model, X, weights, says_such, rng) -> str:
    import matplotlib.pyplot as plt

    from kfrc import KFRCError
    from kfrc_app import displays

    ended = REFUSED
    for name in rng.choice(displays.__all__, 2, replace=False):
        given = {}
        if weights is not None and name in ("ImportanceDisplay", "SpectrumDisplay", "FuzzifierPathDisplay"):
            given["sample_weight"] = weights
        if name == "FuzzifierPathDisplay":
            given["n_steps"] = 5
        try:
            display = getattr(displays, str(name)).from_estimator(model, X, **given)
            display.figure_.savefig(io.BytesIO(), format=str(rng.choice(["png", "svg"])), dpi=40)
            check_figure(display.figure_, str(name), says_such=says_such)
            ended = FINE
        except KFRCError as error:
            if not str(error).strip():
                raise Broken(f"{name} refuses without a word") from None
        finally:
            plt.close("all")
    return ended


def check_figure(figure: Any, name: str, *, says_such: bool) -> None:
    """Everything that is drawn has a place."""
    for ax in figure.axes:
        for limits in (ax.get_xlim(), ax.get_ylim()):
            if not np.isfinite(limits).all() or limits[0] == limits[1]:
                raise Broken(f"{name}: an axis has no ends")
        for line in ax.lines:
            if hasattr(line, "get_data_3d"):
                values = np.asarray(line.get_data_3d(), dtype=float)
            else:
                values = np.asarray(line.get_xydata(), dtype=float)
            if np.isinf(values).any():  # what is not known is a gap
                raise Broken(f"{name}: a line is not finite")
        for collection in ax.collections:
            offsets = np.ma.filled(np.ma.asarray(collection.get_offsets(), dtype=float), np.nan)
            if np.isinf(offsets).any():
                raise Broken(f"{name}: points are not finite")
            if any(np.isinf(path.vertices).any() for path in collection.get_paths()):
                raise Broken(f"{name}: shapes are not finite")
        for patch in ax.patches:
            if not np.isfinite(patch.get_path().vertices).all():
                raise Broken(f"{name}: a bar is not finite")
        for image in ax.images:
            if np.isnan(np.ma.filled(np.ma.asarray(image.get_array(), dtype=float), 0.0)).any():
                raise Broken(f"{name}: an image has NaN")
        for text in ax.texts:
            if not says_such and NO_NUMBER.search(text.get_text()):
                raise Broken(f"{name}: a text is no number")
