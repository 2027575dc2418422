"""Every index against the numbers of R's fclust, FARI and aricode."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kfrc import metrics
from kfrc.metrics.geometry import silhouette_values

GOLDEN = Path(__file__).parents[2] / "golden"
SHARED = Path(__file__).parents[4] / "shared" / "oracles" / "metrics"  # also holds data that may not be copied
ALGEBRA = 1e-10
ARICODE_AMI = 2e-8  # aricode approximates the expected mutual information; the exact value is tested below

with (GOLDEN / "metrics_oracle.json").open() as _file:
    SCALARS = json.load(_file)
LABEL_CASES = SCALARS["label_cases"]
SEEDS_CASES = [
    f"seeds_{kind}"
    for kind in (
        "fkm_m2",
        "fkm_m1.3",
        "fkm_kplus1",
        "fkm_kminus1",
        "hard_truth",
        "hard_perturbed",
        "uniform",
        "random_soft",
    )
]

ALL_CASES = [*LABEL_CASES, *SEEDS_CASES]
WITH_SILHOUETTES = [name for name in ALL_CASES if not name.endswith("uniform")]
WITH_PROTOTYPES = [name for name in WITH_SILHOUETTES if not name.endswith(("perturbed", "random_soft"))]


@cache
def golden_arrays() -> dict[str, np.ndarray]:
    with np.load(GOLDEN / "metrics_oracle.npz") as arrays:
        return dict(arrays)


def load_case(name):
    if name in LABEL_CASES:
        arrays = golden_arrays()
        dataset = name.split("_")[0]
        X, labels = arrays[f"{dataset}__X"], arrays[f"{dataset}__labels"]
        return LABEL_CASES[name], {"X": X, "labels": labels} | select(arrays, name)
    if not SHARED.is_dir():
        pytest.skip("the seeds data are not redistributed: needs ../shared/oracles/metrics beside the repository")
    with np.load(SHARED / "metrics.npz") as arrays:
        chosen = select(arrays, name)
    return json.loads((SHARED / "metrics.json").read_text())["label_cases"][name], chosen


def select(arrays, name):
    return {key.split("__")[1]: arrays[key] for key in arrays if key.startswith(f"{name}__")}


@pytest.fixture(params=ALL_CASES)
def case(request):
    return load_case(request.param)


@pytest.mark.parametrize(("t_norm", "key"), [("min", "minimum"), ("product", "product")])
@pytest.mark.parametrize("swap", [False, True])
def test_fuzzy_rand_family_equals_fclust(case, t_norm, key, swap):
    expected, arrays = case
    pair = arrays["labels"], arrays["U"]
    pair = pair[::-1] if swap else pair
    got = {
        "ARI_F": metrics.fuzzy_adjusted_rand_score(*pair, t_norm=t_norm),
        "RI_F": metrics.fuzzy_rand_score(*pair, t_norm=t_norm),
        "JACCARD_F": metrics.fuzzy_jaccard_score(*pair, t_norm=t_norm),
    }
    for name, value in got.items():
        assert_allclose(value, expected[key][name], rtol=0, atol=ALGEBRA, err_msg=name)


def test_minimum_is_the_default_t_norm(case):
    expected, arrays = case
    got = metrics.fuzzy_adjusted_rand_score(arrays["labels"], arrays["U"])
    assert_allclose(got, expected["ARI_F_default"], rtol=0, atol=ALGEBRA)


def test_indices_of_the_hardened_partition_equal_aricode(case):
    expected, arrays = case
    pair = arrays["labels"], arrays["U"]
    assert_allclose(metrics.adjusted_rand_score(*pair), expected["hard_ARI_aricode"], atol=ALGEBRA)
    assert_allclose(metrics.normalized_mutual_info_score(*pair), expected["hard_NMI_max_aricode"], atol=ALGEBRA)
    assert_allclose(metrics.adjusted_mutual_info_score(*pair), expected["hard_AMI_aricode"], atol=ARICODE_AMI)


def test_frobenius_indices_of_labels_equal_the_reference(case):
    expected, arrays = case
    pair = arrays["labels"], arrays["U"]
    fari = metrics.frobenius_adjusted_rand_score(*pair)
    assert_allclose(fari, expected["fari_labels_vs_U"], rtol=0, atol=ALGEBRA)
    assert_allclose(fari, expected["fari_author_function"], rtol=0, atol=ALGEBRA)
    assert_allclose(metrics.frobenius_rand_score(*pair), expected["fri_labels_vs_U"], rtol=0, atol=ALGEBRA)


def test_partition_indices_equal_fclust(case):
    expected, arrays = case
    U = arrays["U"]
    got = {
        "PC": metrics.partition_coefficient(U),
        "PE": metrics.partition_entropy(U),
        "PE_base2": metrics.partition_entropy(U, base=2),
        "MPC": metrics.modified_partition_coefficient(U),
    }
    for name, value in got.items():
        assert_allclose(value, expected[name], rtol=0, atol=ALGEBRA, err_msg=name)
    assert_allclose(metrics.uniformity_index(U), 1 - expected["MPC"], rtol=0, atol=ALGEBRA)


@pytest.mark.parametrize("case", WITH_SILHOUETTES, indirect=True)
def test_silhouettes_equal_fclust(case):
    expected, arrays = case
    X, U = arrays["X"], arrays["U"]
    options = {
        "SIL": {"alpha": 0, "metric": "sqeuclidean"},
        "SIL_F_alpha1": {"alpha": 1, "metric": "sqeuclidean"},
        "SIL_F_alpha2": {"alpha": 2, "metric": "sqeuclidean"},
        "SIL_euclid_distance": {"alpha": 0},
        "SIL_F_alpha1_euclid_distance": {},
    }
    for name, option in options.items():
        got = metrics.fuzzy_silhouette_score(X, U, **option)
        assert_allclose(got, expected[name], rtol=0, atol=ALGEBRA, err_msg=name)
    per_sample = silhouette_values(X, U.argmax(axis=1), "sqeuclidean")
    assert_allclose(per_sample, arrays["SIL_obj"], rtol=0, atol=ALGEBRA)


@pytest.mark.parametrize("case", WITH_PROTOTYPES, indirect=True)
def test_xie_beni_equals_fclust(case):
    expected, arrays = case
    X, U, H = arrays["X"], arrays["U"], arrays["H"]
    assert_allclose(metrics.xie_beni_index(X, U, H), expected["XB_m2"], rtol=0, atol=ALGEBRA)
    assert_allclose(metrics.xie_beni_index(X, U, H, m=1.5), expected["XB_m1.5"], rtol=0, atol=ALGEBRA)


@pytest.mark.parametrize("name", SCALARS["fari_pairs"])
def test_indices_of_two_fuzzy_partitions_equal_the_reference(name):
    expected = SCALARS["fari_pairs"][name]
    U, V = golden_arrays()[f"pair_{name}__A"], golden_arrays()[f"pair_{name}__B"]
    got = {
        "fari": metrics.frobenius_adjusted_rand_score(U, V),
        "fari_author_function": metrics.frobenius_adjusted_rand_score(U, V),
        "fari_swapped": metrics.frobenius_adjusted_rand_score(V, U),
        "fri": metrics.frobenius_rand_score(U, V),
        "hard_ARI_of_argmax": metrics.adjusted_rand_score(U, V),
        "ndc": metrics.concordance_score(U, V),
        "aci": metrics.adjusted_concordance_score(U, V),
    }
    assert got.keys() == expected.keys()
    for key, value in got.items():
        assert_allclose(value, expected[key], rtol=0, atol=ALGEBRA, err_msg=key)


@pytest.mark.parametrize("expected", SCALARS["hard_label_pairs"])
def test_hard_indices_of_labels_equal_aricode(expected):
    pair = expected["labels1"], expected["labels2"]
    assert_allclose(metrics.adjusted_rand_score(*pair), expected["ARI"], rtol=0, atol=ALGEBRA)
    assert_allclose(metrics.adjusted_mutual_info_score(*pair), expected["AMI_aricode"], rtol=0, atol=ARICODE_AMI)
    for key, mean in (("max", "max"), ("sqrt", "geometric"), ("sum", "arithmetic"), ("min", "min")):
        got = metrics.normalized_mutual_info_score(*pair, average_method=mean)
        assert_allclose(got, expected[f"NMI_{key}"], rtol=0, atol=ALGEBRA, err_msg=key)


@pytest.mark.parametrize("expected", SCALARS["hard_label_pairs"])
def test_adjusted_mutual_information_equals_its_definition_in_exact_arithmetic(expected):
    rows, columns = (np.unique(expected[key], return_inverse=True)[1] for key in ("labels1", "labels2"))
    n = len(rows)
    table = np.zeros((rows.max() + 1, columns.max() + 1), dtype=int)
    np.add.at(table, (rows, columns), 1)
    row_sizes, column_sizes = table.sum(axis=1).tolist(), table.sum(axis=0).tolist()

    def information(k, r, c):
        return k / n * math.log(n * k / (r * c)) if k else 0.0

    observed = sum(
        information(k, r, c)
        for counts, r in zip(table.tolist(), row_sizes, strict=True)
        for k, c in zip(counts, column_sizes, strict=True)
    )
    mean = sum(
        information(k, r, c) * float(Fraction(math.comb(r, k) * math.comb(n - r, c - k), math.comb(n, c)))
        for r in row_sizes
        for c in column_sizes
        for k in range(max(1, r + c - n), min(r, c) + 1)
    )
    entropies = [-sum(s / n * math.log(s / n) for s in sizes) for sizes in (row_sizes, column_sizes)]
    exact = (observed - mean) / (max(entropies) - mean)
    assert_allclose(metrics.adjusted_mutual_info_score(rows, columns), exact, rtol=0, atol=1e-12)
