"""The names users rely on exist, say what they do, and cost nothing they do not need."""

from __future__ import annotations

import importlib
import inspect
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import kfrc
from kfrc._registry import Registered
from kfrc.bandwidth import Optimizer
from kfrc.clusterers import FuzzyClusterer
from kfrc.criteria import Criterion
from kfrc.fuzzifiers import Fuzzifier
from kfrc.judges import Judge
from kfrc.kernels import Kernel
from kfrc.mixtures import Covariance
from kfrc.relational import Start
from kfrc.simulation import Shape

ESTIMATORS = ["FANNY", "FCM", "FCMMK", "FRC", "KFRC", "MSFCM", "NERFCM", "RFCM", "VFCM"]
ERRORS = ["InfeasibleBandwidthError", "KFRCError"]
WARNINGS = [
    "ConstantFeatureWarning",
    "IgnoredParameterWarning",
    "NoStructureWarning",
    "NonEuclideanWarning",
    "TrivialPartitionWarning",
    "UniformCollapseWarning",
]
PUBLIC = {
    "kfrc": [*ESTIMATORS, *ERRORS, *WARNINGS, "NegativeDistanceError", "indices"],
    "kfrc.exceptions": [*ERRORS, *WARNINGS],
    "kfrc.spectrum": ["leading_spectrum", "Spectrum"],
    "kfrc.bandwidth": ["select_bandwidths", "BandwidthResult", "Optimizer"],
    "kfrc.relational": ["solve_relational", "RelationalSolution", "Status", "Start"],
    "kfrc.stability": ["kappa", "stability_threshold", "critical_fuzzifier", "uniform_hessian", "merge_bound"],
    "kfrc.fuzzifiers": ["Power", "Exponential", "Quadratic", "ComplementaryRoot", "Fuzzifier"],
    "kfrc.criteria": ["EigenvalueSum", "SumOfLogs", "Eigengap", "Criterion"],
    "kfrc.kernels": ["Kernel", "AdditiveKernel"],
    "kfrc.gram": ["Gram", "GramFamily", "Centers", "gram_family"],
    "kfrc.mixtures": [
        "Covariance",
        "Diagonal",
        "Expectation",
        "Mixture",
        "MixtureFit",
        "MixtureKind",
        "Spread",
        "Tied",
        "TiedDiagonal",
        "fit_mixture",
        "resolution",
    ],
    "kfrc.activity": ["follow", "step", "results"],
    "kfrc.confidence": ["assess", "Confidence"],
    "kfrc.judges": ["Judge", "MixtureJudge", "Opinion", "PosteriorModel"],
    "kfrc.selection": ["choose", "count_clusters"],
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
ALIASES = ["ArrayLike", "BoolArray", "FloatArray", "IntArray", "Progress", "RandomStateLike"]
LISTED = [f"kfrc.{name}" for name in ("bandwidth", "clusterers", "gram", "kernels", "metrics", "relational")]
LISTED += ["kfrc", "kfrc.fitting", "kfrc.fuzzifiers", "kfrc.selection", "kfrc.simulation", "kfrc.typing"]
NAMES = [(module, name) for module, names in PUBLIC.items() for name in names]
WITHOUT_EXAMPLE = {"kfrc.selection"}  # its functions need what KFRC prepares for them
WITH_EXAMPLE = [
    *((module, name) for module, name in NAMES if name[0].islower() and module not in WITHOUT_EXAMPLE),
    *(("kfrc", name) for name in ESTIMATORS),
    ("kfrc.judges", "Judge"),
    ("kfrc.mixtures", "Mixture"),
    ("kfrc.mixtures", "MixtureKind"),
]
FAMILIES = {
    Fuzzifier: {"power", "exponential", "quadratic", "complementary_root"},
    Criterion: {"sum", "log_sum", "gap"},
    Kernel: {"sum", "product", "linear"},
    Optimizer: {"lbfgs", "momentum"},
    Start: {"spectral", "near_uniform", "random", "kmeans++", "blocks"},
    Judge: {"mixture"},
    Covariance: {"tied", "tied_diagonal", "diagonal"},
    Shape: {"heavy_tails", "imbalanced", "moons", "rings"},
}
every_estimator = pytest.mark.parametrize("cls", [getattr(kfrc, name) for name in ESTIMATORS])


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_public_names_exist_and_are_documented(module, name):
    assert_documented(getattr(importlib.import_module(module), name))


@pytest.mark.parametrize("module", LISTED)
def test_every_name_that_a_package_lists_exists_and_is_documented(module):
    package = importlib.import_module(module)
    assert len(set(package.__all__)) == len(package.__all__)
    for name in package.__all__:
        found = getattr(package, name)
        if inspect.isclass(found) or inspect.isfunction(found):
            assert_documented(found)


def assert_documented(found):
    """Whether a class or function has a docstring of its own, not one that Python or a base class supplies."""
    text = found.__doc__
    assert text is not None
    assert len(text) > 10
    assert not text.startswith(f"{found.__name__}("), "this is what a dataclass without a docstring gets"
    inherited = [base.__doc__ for base in found.__mro__[1:]] if inspect.isclass(found) else []
    assert text not in inherited


@pytest.mark.parametrize("name", ALIASES)
def test_types_for_annotations_are_public(name):
    assert name in importlib.import_module("kfrc.typing").__all__


def test_the_version_has_three_numbers():
    assert kfrc.__version__.count(".") == 2


@pytest.mark.parametrize(("module", "name"), WITH_EXAMPLE)
def test_public_functions_show_an_example(module, name):
    assert ">>>" in inspect.getdoc(getattr(importlib.import_module(module), name))


def test_the_package_lists_every_public_name():
    assert set(kfrc.__all__) >= set(PUBLIC["kfrc"])


def test_estimators_are_those_that_the_package_exports():
    exported = [getattr(kfrc, name) for name in kfrc.__all__]
    assert {cls.__name__ for cls in exported if inspect.isclass(cls) and issubclass(cls, FuzzyClusterer)} == set(
        ESTIMATORS
    )


def test_errors_are_errors_and_warnings_are_warnings():
    assert all(issubclass(getattr(kfrc, name), kfrc.KFRCError) for name in (*ERRORS, "NegativeDistanceError"))
    assert all(issubclass(getattr(kfrc, name), UserWarning) for name in WARNINGS)


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


@every_estimator
def test_every_parameter_of_an_estimator_is_documented_and_stored_unchanged(cls):
    doc = inspect.getdoc(cls)
    for name, parameter in inspect.signature(cls).parameters.items():
        assert re.search(rf"\b{name}\b", doc), f"{name} is missing in the docstring of {cls.__name__}"
        assert getattr(cls(), name) is parameter.default


@every_estimator
def test_only_the_number_of_clusters_is_positional(cls):
    with pytest.raises(TypeError, match="positional"):
        cls(3, 2.0)


@every_estimator
def test_fitted_estimators_survive_pickling(cls, iris):
    fit = cls(3).set_params(**({"random_state": 0} if "random_state" in cls().get_params() else {})).fit(iris)
    again = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(again.predict_proba(iris), fit.predict_proba(iris))


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_the_library_loads_nothing_heavy():
    heavy = ["pandas", "matplotlib", "dask", "polars", "pyarrow", "plotly", "rich", "typer"]
    code = (
        # scikit-learn itself imports pandas and rich where they are installed.
        "import importlib.util, sys, sklearn.base;"
        "importlib.util.find_spec('sklearn.callback') and importlib.import_module('sklearn.callback');"
        "before = set(sys.modules); import kfrc;"
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
