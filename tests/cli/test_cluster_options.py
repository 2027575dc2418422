"""A scheduler that is named at the command line: another computer needs TLS, or a user who says that it is trusted."""

from __future__ import annotations

import pytest

pytest.importorskip("distributed")

ELSEWHERE = "tcp://192.0.2.7:8786"
"""An address that belongs to nobody (RFC 5737)."""


@pytest.fixture(params=["fit", "predict", "study"])
def call(request, run, tmp_path):
    """Call a verb that takes a scheduler, with further words; nothing that it names needs to exist."""
    words = {
        "fit": ("fit", tmp_path / "t.parquet", "-c", 2),
        "predict": ("predict", tmp_path / "model.skops", tmp_path / "t.parquet"),
        "study": ("study", "run", "synthetic"),
    }[request.param]

    def called(*further, code=2):
        ended = run(*words, "--out", tmp_path / "out", *further, code=code)
        assert not (tmp_path / "out").exists()
        (line,) = ended.err.strip().splitlines()
        return line

    return called


def test_a_scheduler_elsewhere_is_refused_before_any_work(call):
    line = call("--scheduler", ELSEWHERE)
    assert line.startswith(f"kfrc: the scheduler at {ELSEWHERE} is not on this computer")
    for part in ("can run programs here as you", "--tls-ca-file", "--trust-cluster"):
        assert part in line


def test_files_for_tls_are_needed_together(call, tmp_path):
    line = call("--scheduler", "tls://192.0.2.7:8786", "--tls-cert", tmp_path / "a.pem")
    assert line.endswith("--tls-ca-file and --tls-key missing")


def test_a_file_for_tls_that_is_not_there_is_named(call, tmp_path):
    (tmp_path / "a.pem").write_text("", encoding="utf-8")
    files = ("--tls-ca-file", tmp_path / "a.pem", "--tls-cert", tmp_path / "b.pem", "--tls-key", tmp_path / "a.pem")
    line = call("--scheduler", "tls://192.0.2.7:8786", *files)
    assert line == f"kfrc: --tls-cert: there is no file {tmp_path / 'b.pem'}"


def test_a_file_for_tls_that_holds_something_else_is_told(call, tmp_path):
    path = tmp_path / "a.pem"
    path.write_text("nothing", encoding="utf-8")
    line = call("--scheduler", "tls://192.0.2.7:8786", "--tls-ca-file", path, "--tls-cert", path, "--tls-key", path)
    assert "certificates of the cluster cannot be used" in line


def test_an_address_of_tls_needs_certificates(call):
    assert "needs certificates" in call("--scheduler", "tls://192.0.2.7:8786", "--trust-cluster")


@pytest.mark.parametrize("words", [("--trust-cluster",), ("--tls-key", "a.pem")])
def test_what_is_said_of_a_cluster_needs_one(call, words):
    assert f"{words[0]} is for a Dask cluster: name it with --scheduler ADDRESS" in call(*words)


def test_a_cluster_that_is_trusted_is_connected_to(run, tmp_path, monkeypatch):
    asked = []

    class Client:
        def __init__(self, address, **_):
            asked.append(address)
            raise OSError("nobody answers")

    monkeypatch.setattr("distributed.Client", Client)
    words = ("--out", tmp_path / "out", "--scheduler", ELSEWHERE, "--trust-cluster")
    ended = run("study", "run", "synthetic", *words, code=1)
    assert f"no Dask scheduler answers at {ELSEWHERE}; is it running?" in ended.err
    assert asked == [ELSEWHERE]


@pytest.mark.parametrize("verb", [("fit",), ("predict",), ("study", "run")])
def test_help_says_what_a_scheduler_can_do(run, verb):
    told = " ".join(run(*verb, "--help").out.split())
    assert "Whoever runs it can run programs as you." in told
