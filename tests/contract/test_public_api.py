"""The names users rely on exist, say what they do, and cost nothing they do not need."""

from __future__ import annotations

import importlib
import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest

import kfrc
from kfrc import FRC, KFRC
from kfrc._registry import Registered
from kfrc.bandwidth import Optimizer
from kfrc.criteria import Criterion
from kfrc.fuzzifiers import Fuzzifier
from kfrc.kernels import Kernel
from kfrc.relational import Start

PUBLIC = {
    "kfrc": ["FRC", "KFRC", "InfeasibleBandwidthError", "KFRCError", "UniformCollapseWarning", "__version__"],
    "kfrc.spectrum": ["leading_spectrum", "Spectrum"],
    "kfrc.bandwidth": ["select_bandwidths", "BandwidthResult", "Optimizer"],
    "kfrc.relational": ["solve_relational", "RelationalSolution", "Status"],
    "kfrc.stability": ["kappa", "stability_threshold", "critical_fuzzifier", "uniform_hessian", "merge_bound"],
    "kfrc.fuzzifiers": ["Power", "Exponential", "Quadratic", "ComplementaryRoot", "Fuzzifier"],
    "kfrc.criteria": ["EigenvalueSum", "SumOfLogs", "Eigengap", "Criterion"],
    "kfrc.kernels": ["Kernel"],
    "kfrc.metrics": [
        "fuzzy_rand_score",
        "fuzzy_adjusted_rand_score",
        "fuzzy_jaccard_score",
        "frobenius_adjusted_rand_score",
        "adjusted_mutual_info_score",
        "partition_coefficient",
        "partition_entropy",
        "modified_partition_coefficient",
        "uniformity_index",
        "xie_beni_index",
        "fuzzy_silhouette_score",
        "importance_weights",
        "effective_n_features",
    ],
    "kfrc.simulation": ["make_gaussian_mixture", "GaussianMixtureSpec", "overlap", "make_study_dataset"],
    "kfrc.datasets": ["load_benchmark"],
}
NAMES = [(module, name) for module, names in PUBLIC.items() for name in names]
WITH_EXAMPLE = [
    (module, name)
    for module, name in NAMES
    if module in ("kfrc.spectrum", "kfrc.bandwidth", "kfrc.relational", "kfrc.stability", "kfrc.metrics", "kfrc")
    and name[0].islower()
    and name != "__version__"
] + [("kfrc", "FRC"), ("kfrc", "KFRC")]
FAMILIES = {
    Fuzzifier: {"power", "exponential", "quadratic", "complementary_root"},
    Criterion: {"sum", "log_sum", "gap"},
    Kernel: {"sum", "product", "linear"},
    Optimizer: {"lbfgs", "momentum"},
    Start: {"spectral", "near_uniform", "random", "kmeans++"},
}


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_public_names_exist_and_are_documented(module, name):
    found = getattr(importlib.import_module(module), name)
    if name == "__version__":
        assert found.count(".") == 2
    else:
        assert len(inspect.getdoc(found)) > 10


@pytest.mark.parametrize(("module", "name"), WITH_EXAMPLE)
def test_public_functions_show_an_example(module, name):
    assert ">>>" in inspect.getdoc(getattr(importlib.import_module(module), name))


def test_every_name_of_the_package_is_importable():
    assert set(kfrc.__all__) >= set(PUBLIC["kfrc"])
    for name in kfrc.__all__:
        assert hasattr(kfrc, name)


@pytest.mark.parametrize(("family", "names"), FAMILIES.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_registries_hold_the_documented_names(family, names):
    assert names <= set(family.registry)
    for name, cls in family.registry.items():
        assert cls.name == name
        assert issubclass(cls, family)
        assert isinstance(family.from_name(name), cls)
        assert family.resolve(name) == family.from_name(name)
        assert inspect.getdoc(cls) != inspect.getdoc(family), f"{cls.__name__} has no docstring of its own"


def test_families_do_not_share_a_registry():
    registries = [family.registry for family in FAMILIES]
    assert len({id(registry) for registry in registries}) == len(registries)


def test_defining_a_class_with_a_name_registers_it_and_without_a_name_does_not():
    class Color(Registered):
        pass

    class Red(Color, name="red"):
        pass

    class Secret(Color):
        pass

    assert Color.registry == {"red": Red}
    assert isinstance(Color.resolve(Secret()), Secret)
    assert isinstance(Color.resolve("red"), Red)
    with pytest.raises(ValueError, match="unknown color 'blue': choose one of red"):
        Color.from_name("blue")


@pytest.mark.parametrize("cls", [FRC, KFRC])
def test_every_parameter_of_an_estimator_is_documented_and_stored_unchanged(cls):
    doc = inspect.getdoc(cls)
    for name, parameter in inspect.signature(cls).parameters.items():
        assert name in doc, f"{name} is missing in the docstring of {cls.__name__}"
        assert getattr(cls(), name) is parameter.default


@pytest.mark.parametrize("cls", [FRC, KFRC])
def test_only_the_number_of_clusters_is_positional(cls):
    with pytest.raises(TypeError, match="positional"):
        cls(3, "sum")


@pytest.mark.parametrize("cls", [FRC, KFRC])
def test_fitted_estimators_survive_pickling(cls, iris):
    fit = cls(3, random_state=0).fit(iris)
    again = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(again.predict_proba(iris), fit.predict_proba(iris))


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_the_library_loads_nothing_heavy():
    heavy = ["pandas", "matplotlib", "dask", "polars", "pyarrow", "plotly", "rich", "typer"]
    code = (
        # scikit-learn itself imports pandas and rich where they are installed.
        "import sys, sklearn.base, sklearn.callback; before = set(sys.modules); import kfrc;"
        f"print([name for name in {heavy} if name in set(sys.modules) - before],"
        "[name for name in ['matplotlib', 'dask', 'polars'] if name in sys.modules])"
    )
    assert run_python(code) == "[] []"


def test_fitting_loads_nothing_heavy_either():
    code = (
        "import sys, numpy as np; from kfrc import KFRC; rng = np.random.default_rng(0);"
        "X = np.vstack([rng.normal(size=(20, 2)), 9 + rng.normal(size=(20, 2))]);"
        "KFRC(2, n_starts=1, random_state=0).fit(X);"
        "print([name for name in ['matplotlib', 'dask', 'polars', 'plotly'] if name in sys.modules])"
    )
    assert run_python(code) == "[]"
