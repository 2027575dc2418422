"""Every display draws every method, on tables and on precomputed relations, or says why not and what to use."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.metrics import pairwise_distances

from kfrc import FANNY, FCM, FCMMK, FRC, KFRC, MSFCM, NERFCM, RFCM, VFCM, KFRCError
from kfrc.metrics import fuzzy_silhouette_score
from kfrc_app import displays
from kfrc_app.displays import (
    BiplotDisplay,
    FuzzifierPathDisplay,
    ImportanceDisplay,
    PairsDisplay,
    ParallelDisplay,
    SilhouetteDisplay,
    SpectrumDisplay,
)

X = load_iris().data[::5]
SQUARES = pairwise_distances(X, metric="sqeuclidean")
OTHER = np.kron(10.0 - 6.0 * np.eye(3), np.ones((8, 8)))  # not Euclidean: NERFCM raises it
OTHER[0, :8] = OTHER[:8, 0] = 0.5
np.fill_diagonal(OTHER, 0.0)

MODELS = {
    "FCM": (FCM(3, m=1.5, random_state=0), X),
    "FANNY": (FANNY(3, m=1.5), X),
    "FRC": (FRC(3, m=1.5, random_state=0), X),
    "RFCM": (RFCM(3, m=1.5, random_state=0), X),
    "NERFCM": (NERFCM(3, m=1.5, random_state=0), X),
    "FCMMK": (FCMMK(3, m=1.5, random_state=0), X),
    "MSFCM": (MSFCM(3, m=1.5, random_state=0), X),
    "VFCM": (VFCM(3, m0=1.5, random_state=0), X),
    "KFRC": (KFRC(3, level=1.0, m=1.5, n_starts=1, random_state=0), X),
    "FRC of Gower's": (FRC(3, m=1.5, metric="gower", random_state=0), X),
    "FANNY, precomputed": (FANNY(3, m=1.5, metric="precomputed"), SQUARES),
    "FRC, precomputed": (FRC(3, m=1.5, metric="precomputed", random_state=0), SQUARES),
    "RFCM, precomputed": (RFCM(3, m=1.5, metric="precomputed", random_state=0), SQUARES),
    "NERFCM, precomputed": (NERFCM(3, m=1.5, metric="precomputed", random_state=0), OTHER),
    "KFRC, precomputed": (KFRC(3, m=1.5, kernel="precomputed", random_state=0), X @ X.T),
}
DISPLAYS = [getattr(displays, name) for name in displays.__all__]
MATRICES = [name for name in MODELS if "precomputed" in name]
REFUSED = {
    **{(ImportanceDisplay, name): "use SphereDisplay" for name in MATRICES},
    **{(display, name): "BiplotDisplay" for display in (PairsDisplay, ParallelDisplay) for name in MATRICES},
    (FuzzifierPathDisplay, "VFCM"): "MembershipDisplay shows",
}
OPTIONS = {FuzzifierPathDisplay: {"n_steps": 4}}


@pytest.fixture(scope="module")
def fitted():
    return {name: (model.fit(data), data) for name, (model, data) in MODELS.items()}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("display", DISPLAYS)
@pytest.mark.parametrize("name", MODELS)
def test_a_display_draws_or_says_what_to_use_instead(display, name, fitted):
    model, data = fitted[name]
    if (display, name) in REFUSED:
        with pytest.raises(KFRCError, match=REFUSED[display, name]):
            display.from_estimator(model, data)
        return
    drawn = display.from_estimator(model, data, **OPTIONS.get(display, {}))
    assert any(ax.has_data() for ax in drawn.figure_.axes)
    drawn.figure_.canvas.draw()


def test_shares_of_columns_follow_from_the_centers(fitted):
    model, data = fitted["FCM"]
    masses = (model.memberships_**1.5).sum(axis=0)
    common = masses @ model.cluster_centers_ / masses.sum()
    between = masses @ (model.cluster_centers_ - common) ** 2
    display = ImportanceDisplay.from_estimator(model, data)
    np.testing.assert_allclose(display.contributions, between / between.sum(), atol=1e-6)


def test_spectrum_of_a_relation_is_that_of_the_points_behind_it(fitted):
    points = SpectrumDisplay.from_estimator(*fitted["FCM"])
    relation = SpectrumDisplay.from_estimator(*fitted["FRC, precomputed"])
    np.testing.assert_allclose(points.eigenvalues[:4], relation.eigenvalues[:4], atol=1e-10)
    assert points.threshold == relation.threshold


def test_the_path_passes_through_the_fit(fitted):
    for name in ("FCM", "MSFCM", "FCMMK", "FANNY, precomputed"):
        model, data = fitted[name]
        path = FuzzifierPathDisplay.from_estimator(model, data, n_steps=4).path
        np.testing.assert_allclose(path.memberships[path.fitted], model.memberships_, atol=0.02)
        assert path.uniformity[0] < path.uniformity[-1]


def test_silhouettes_are_those_of_the_metrics(fitted):
    model, data = fitted["FCM"]
    display = SilhouetteDisplay.from_estimator(model, data)
    assert display.fuzzy_ == pytest.approx(fuzzy_silhouette_score(data, model.memberships_))
    assert display.crisp_ == pytest.approx(fuzzy_silhouette_score(data, model.memberships_, alpha=0))
    relation, R = fitted["FANNY, precomputed"]
    expected = fuzzy_silhouette_score(R, relation.memberships_, metric="precomputed")
    assert SilhouetteDisplay.from_estimator(relation, R).fuzzy_ == pytest.approx(expected)


def test_a_biplot_of_points_shows_their_principal_components(fitted):
    display = BiplotDisplay.from_estimator(*fitted["FCM"])
    components = PCA(2).fit(X)
    np.testing.assert_allclose(np.abs(display.coordinates), np.abs(components.transform(X)), atol=1e-6)
    np.testing.assert_allclose(display.explained, components.explained_variance_ratio_, atol=1e-8)
    expected = np.corrcoef(X[:, 2], display.coordinates[:, 0])[0, 1]
    assert display.correlations_["x2"][0] == pytest.approx(expected)


def test_weights_count_rows_where_numbers_are_shown():
    counts = np.random.default_rng(0).integers(1, 4, len(X))
    repeated = np.repeat(X, counts, axis=0)
    weighted = FCM(3, m=1.5, random_state=0).fit(X, sample_weight=counts)
    plain = FCM(3, m=1.5, random_state=0).fit(repeated)
    for display, attribute in ((ImportanceDisplay, "contributions"), (SpectrumDisplay, "eigenvalues")):
        found = getattr(display.from_estimator(weighted, X, sample_weight=counts), attribute)
        np.testing.assert_allclose(
            found[:4], getattr(display.from_estimator(plain, repeated), attribute)[:4], atol=1e-6
        )
    path = FuzzifierPathDisplay.from_estimator(weighted, X, sample_weight=counts, n_steps=4).path
    same = FuzzifierPathDisplay.from_estimator(plain, repeated, n_steps=4).path
    np.testing.assert_allclose(path.uniformity, same.uniformity, atol=1e-2)
