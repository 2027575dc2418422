"""A model that is not whole, or of another version, is one line when it is loaded, and no NaN in a table of results."""

from __future__ import annotations

import copy
import dataclasses
import io
import json
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
import skops.io

import kfrc
from kfrc import FANNY, FCM, FCMMK, FRC, KFRC, MSFCM, NERFCM, RFCM, VFCM
from kfrc.exceptions import KFRCError
from kfrc_app.models import ModelError, ModelVersionWarning, dump_model, load_model, predicted_memberships
from kfrc_app.models.record import RECORD, versions
from kfrc_app.models.state import check_state

MAKERS = {
    "KFRC": lambda X: KFRC(2, level=1.0, n_starts=1, random_state=0).fit(X),
    "KFRC of a table": lambda X: KFRC(2, level=1.0, n_starts=1, random_state=0).fit(typed(X)),
    "FRC": lambda X: FRC(2, random_state=0).fit(X),
    "FRC of a matrix": lambda X: FRC(2, metric="precomputed", random_state=0).fit(squares(X)),
    "FRC of a table": lambda X: FRC(2, metric="gower", random_state=0).fit(typed(X)),
    "FCM": lambda X: FCM(2, random_state=0).fit(X),
    "FCMMK": lambda X: FCMMK(2, random_state=0).fit(X),
    "FANNY": lambda X: FANNY(2, random_state=0).fit(X),
    "MSFCM": lambda X: MSFCM(2, random_state=0).fit(X),
    "NERFCM": lambda X: NERFCM(2, random_state=0).fit(X),
    "RFCM": lambda X: RFCM(2, random_state=0).fit(X),
    "VFCM": lambda X: VFCM(2, random_state=0).fit(X),
}
USED = ("_centers", "_kernels", "_relation", "space_", "fuzzifier_")


def rows():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(size=(15, 3)), rng.normal(size=(15, 3)) + 5])


def squares(X):
    return ((X[:, None] - X[None]) ** 2).sum(axis=-1)


def typed(X):
    levels = pd.Categorical(np.where(X[:, 0] > 2, "high", "low"))
    return pd.DataFrame(
        {"a": X[:, 0], "b": X[:, 1], "level": levels, "day": pd.date_range("2020-01-01", periods=len(X))}
    )


def like(name, X):
    return squares(X) if "matrix" in name else typed(X) if "table" in name else X


def changes(value, gaps_are_data=False):
    """Values that something might have become."""
    yield None
    if isinstance(value, np.ndarray):
        yield value[:-1]
        yield value[:1]
        if value.dtype.kind == "f" and not gaps_are_data:
            yield np.full_like(value, np.nan)
            changed = value.copy()
            changed.flat[-1:] = np.nan
            yield changed
    elif isinstance(value, float):
        yield float("nan")
    else:
        yield "text"


def places(model):
    """Names of what was fitted, and of what that is made of."""
    for name, value in list(vars(model).items()):
        if name not in model.get_params():
            yield (name,)
            if name in USED and dataclasses.is_dataclass(value):
                yield from ((name, field.name) for field in dataclasses.fields(value))


def changed_models(model):
    for place in places(model):
        *within, last = place
        gaps_are_data = last == "rows" and getattr(model, "metric", None) == "gower"
        for change in ("removed", *changes(_found(model, place), gaps_are_data)):
            other = copy.deepcopy(model)
            holder = _found(other, within)
            if isinstance(change, str) and change == "removed":
                if last not in vars(holder):
                    continue
                object.__delattr__(holder, last)
            else:
                object.__setattr__(holder, last, change)
            yield (*place, change), other


def _found(found, place):
    for name in place:
        found = getattr(found, name)
    return found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MAKERS)
def test_a_model_with_anything_missing_or_spoilt_is_refused_or_predicts_as_before(name):
    X = like(name, rows())
    model = MAKERS[name](rows())
    check_state(model)
    expected = [model.predict_proba(X), model.predict(X), model.transform(X)]
    n_refused = 0
    for place, other in changed_models(model):
        try:
            check_state(other)
            found = [other.predict_proba(X), other.predict(X), other.transform(X)]
        except KFRCError as error:
            assert "\n" not in str(error), place  # noqa: PT017 - some changes do no harm
            n_refused += 1
            continue
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-9, err_msg=str(place))
    assert n_refused > 10


def test_a_model_without_an_attribute_is_one_line_that_says_what_to_do(tmp_path):
    model = FCM(2, random_state=0).fit(rows())
    del model._locations
    (tmp_path / "model.skops").write_bytes(dump_model(model))
    with pytest.raises(ModelError, match=r"model\.skops holds a model that is not whole \(.*_locations.*fit it again$"):
        load_model(tmp_path / "model.skops")


def test_memberships_that_are_no_numbers_are_never_given_back(monkeypatch):
    model = FCM(2, random_state=0).fit(rows())
    monkeypatch.setattr(FCM, "predict_proba", lambda self, X: np.full((len(X), 2), np.nan))
    with pytest.raises(ModelError, match="cannot place these rows"):
        predicted_memberships(model, rows())
    monkeypatch.undo()
    del model._locations
    with pytest.raises(ModelError, match="cannot place these rows"):
        predicted_memberships(model, rows())


def with_versions(content, made_with):
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(target, "w") as after:
        for name in before.namelist():
            after.writestr(name, before.read(name) if name != RECORD else json.dumps(made_with))
    return target.getvalue()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


@pytest.fixture(scope="module")
def model_bytes():
    return dump_model(FCM(2, random_state=0).fit(rows()))


def test_a_model_says_which_versions_made_it(model_bytes):
    with zipfile.ZipFile(io.BytesIO(model_bytes)) as archive:
        found = json.loads(archive.read(RECORD))
    assert found == versions()
    assert found["kfrc"] == kfrc.__version__
    assert {"numpy", "scipy", "scikit-learn", "skops", "python"} < {*found}


@pytest.mark.parametrize("made", ["0.0.9", "99.1.0", "0.99.0rc1"])
def test_a_model_of_another_release_is_refused_with_both_versions(path, model_bytes, made):
    path.write_bytes(with_versions(model_bytes, {**versions(), "kfrc": made}))
    with pytest.raises(ModelError, match=f"made by kfrc {made}, and this is kfrc {kfrc.__version__}.*fit it again"):
        load_model(path)


def test_a_model_of_another_patch_is_read(path, model_bytes):
    release = kfrc.__version__.rpartition(".")[0]
    path.write_bytes(with_versions(model_bytes, {**versions(), "kfrc": f"{release}.9999"}))
    assert load_model(path).n_clusters == 2


@pytest.mark.parametrize("record", [None, [], {}, {"kfrc": 1}, {"kfrc": "new"}, {"kfrc": "1.0\n\x1b[31m"}])
def test_a_model_without_versions_is_refused_with_what_to_do(path, model_bytes, record):
    path.write_bytes(with_versions(model_bytes, record))
    with pytest.raises(ModelError, match=r"does not say which version of kfrc made it.*fit it again"):
        load_model(path)


def test_a_model_of_before_versions_were_kept_is_refused_with_what_to_do(path):
    path.write_bytes(skops.io.dumps(FCM(2, random_state=0).fit(rows())))
    with pytest.raises(ModelError, match=r"does not say which version of kfrc made it.*fit it again"):
        load_model(path)


def test_other_versions_of_packages_are_a_warning(path, model_bytes):
    path.write_bytes(with_versions(model_bytes, {**versions(), "numpy": "0.5.1"}))
    with pytest.warns(ModelVersionWarning, match=r"made with numpy 0\.5\.1 \(now .*last digits"):
        load_model(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path.write_bytes(model_bytes)
        load_model(path)


HALVES = np.full((15, 2), 0.5)


@pytest.mark.parametrize(
    ("method", "found", "said"),
    [
        ("predict_proba", lambda n: HALVES[:n, :1], "memberships are no table of rows and clusters"),
        ("predict_proba", lambda n: np.ones((n, 2), dtype=int), "memberships are no table of rows and clusters"),
        ("predict_proba", lambda n: np.full((n, 2), 0.7), "memberships do not sum to one"),
        ("predict_proba", lambda n: np.tile([1.5, -0.5], (n, 1)), "memberships do not sum to one"),
        ("transform", lambda n: np.full((n, 2), -1.0), "distances to centers are not numbers"),
        ("transform", lambda n: np.full((n, 2), np.nan), "distances to centers are not numbers"),
        ("transform", lambda n: np.ones((n, 3)), "distances to centers are not numbers"),
    ],
)
def test_a_model_that_says_nonsense_of_made_up_rows_is_refused(monkeypatch, method, found, said):
    model = FCM(2, random_state=0).fit(rows())
    check_state(model)
    monkeypatch.setattr(FCM, method, lambda self, X: found(len(X)))
    with pytest.raises(ModelError, match=said):
        check_state(model)


@pytest.mark.parametrize(
    ("attribute", "value", "said"),
    [
        ("n_clusters_", 3, "memberships in 2 clusters, and 3 clusters"),
        ("column_types_", {"a": "numeric"}, "it has 3 columns, and types of 1"),
        ("memberships_", np.full((30, 2), 0.7), "memberships do not sum to one"),
    ],
)
def test_a_model_that_contradicts_itself_is_refused(attribute, value, said):
    model = KFRC(2, level=1.0, n_starts=1, random_state=0).fit(rows())
    setattr(model, attribute, value)
    with pytest.raises(ModelError, match=said):
        check_state(model)


def test_a_center_at_infinity_in_some_columns_only_is_refused():
    model = FCM(2, random_state=0).fit(rows())
    model._locations[0, 1] = np.inf
    with pytest.raises(ModelError, match="a center lies at infinity in some columns"):
        check_state(model)
