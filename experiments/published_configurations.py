"""The authors' six best configurations beside the same ones of a run; prints tables for docs/reproduction.md.

.venv/bin/python experiments/published_configurations.py RUN CONFIGURATIONS --data-dir FOLDER [--starts 12]

RUN is the folder of ``kfrc study run real --optimizer momentum``, CONFIGURATIONS the authors' kfrc_best_configs.json.
The first table has where the two ascents ended: the criterion, λ₁ and the level (mean log-bandwidth in standard
deviations), and the scores of clusterings at either bandwidths. The second has the minima of the objective in which
random starts end at the published bandwidths.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kfrc import KFRC
from kfrc_app.study.clusterings import Scores
from kfrc_app.study.datasets import StudyData, load_task_data
from kfrc_app.study.design import StudyTask
from kfrc_app.study.store import StudyStore
from kfrc_app.study.tables import to_markdown

DATA_SETS = {"IS": "image_segmentation"}
FUZZIFIERS = {"quad": "quadratic", "crt": "complementary_root"}
CRITERIA = {"logsum": "log_sum", "gap": "gap", "sum": "sum"}
MEASURES = ("ari", "ami", "fari_crisp", "uniformity")


def fitted(data: StudyData, fuzzifier: str, bandwidths: list[float], **options: Any) -> KFRC:
    """A clustering at given bandwidths of standardized columns, from one start."""
    model = KFRC.paper(
        data.n_clusters,
        fuzzifier=fuzzifier,
        bandwidths=bandwidths,
        standardize=False,
        n_init=1,
        max_iter=1000,
        **options,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(data.X)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of a run of the real study")
    parser.add_argument("configurations", type=Path, help="kfrc_best_configs.json of the authors")
    parser.add_argument("--data-dir", help="folder with the data sets")
    parser.add_argument("--starts", type=int, default=12, help="random starts at the published bandwidths")
    asked = parser.parse_args()
    records = StudyStore(asked.run).load()
    ends: list[dict[str, Any]] = []
    minima: list[dict[str, Any]] = []
    for published in json.loads(asked.configurations.read_text()).values():
        name = DATA_SETS.get(published["dataset"], published["dataset"])
        fuzzifier, criterion = FUZZIFIERS[published["fuzzifier"]], CRITERIA[published["criterion"]]
        data = load_task_data(StudyTask("real", name, 1, data_dir=asked.data_dir))
        scores = Scores(data)
        same = (
            (records["dataset"] == name)
            & (records["fuzzifier"] == fuzzifier)
            & (records["criterion"] == criterion)
            & (records["max_anisotropy"] == float(published["alpha"]))
        )
        ours = records[same].iloc[0]
        common = {"data": name, "configuration": f"{fuzzifier}, {criterion}, α = {published['alpha']}"}
        sides = {
            "published": (published["bw"], published["criterion_value"], published["lambda1"]),
            "here": ([float(b) for b in ours["bandwidths"].split()], ours["criterion_value"], ours["lambda1"]),
        }
        for side, (bandwidths, value, leading) in sides.items():
            found = scores.of(fitted(data, fuzzifier, bandwidths).memberships_)
            level = float(np.log(bandwidths).mean())
            reached = {"criterion": value, "lambda1": leading, "level": level}
            ends.append(common | {"bandwidths": side} | reached | {measure: found[measure] for measure in MEASURES})
        for seed in range(asked.starts):
            model = fitted(data, fuzzifier, published["bw"], init="random", random_state=seed)
            found = scores.of(model.memberships_)
            minimum = {"data": name, "objective": round(model.objective_, 2)}
            minima.append(minimum | {measure: round(found[measure], 3) for measure in MEASURES})
    print(to_markdown(pd.DataFrame(ends)))
    counted = (
        pd.DataFrame(minima)
        .groupby(["data", "objective"])
        .agg(starts=("ari", "size"), **{measure: (measure, "first") for measure in MEASURES})
    )
    print(to_markdown(counted.reset_index()))


if __name__ == "__main__":
    main()
