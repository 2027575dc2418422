"""Which schedulers are connected to: a scheduler can run programs in the process that connects to it."""

from __future__ import annotations

import shutil
import socket
import subprocess

import dask
import pytest

from kfrc.blocks import AddressError, UntrustedClusterError, WorkerError, admitted, connected, tls_security

pytest.importorskip("distributed")

ELSEWHERE = "192.0.2.7"
"""A number that belongs to nobody (RFC 5737)."""


@pytest.fixture
def names(monkeypatch):
    """Names of computers and where they lead, without asking anybody; returns which were asked for."""
    known = {
        "here.example": ["127.0.0.1"],
        "there.example": [ELSEWHERE],
        "both.example": ["127.0.0.1", ELSEWHERE],
        "localhost": ["::1", "127.0.0.1"],
    }
    asked = []

    def look_up(host, port, *_, **__):
        asked.append(host)
        try:
            socket.inet_pton(socket.AF_INET6 if ":" in host else socket.AF_INET, host)
            found = [host]
        except OSError:
            if host not in known:
                raise socket.gaierror(socket.EAI_NONAME, "not known") from None
            found = known[host]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (number, port)) for number in found]

    monkeypatch.setattr("kfrc.blocks.trust.socket.getaddrinfo", look_up)
    return asked


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("tcp://127.0.0.1:8786", "tcp://127.0.0.1:8786"),
        ("127.0.0.1:8786", "tcp://127.0.0.1:8786"),
        ("tcp://127.9.8.7:8786", "tcp://127.9.8.7:8786"),
        ("tcp://[::1]:8786", "tcp://[::1]:8786"),
        ("tcp://[::ffff:127.0.0.1]:8786", "tcp://[::ffff:7f00:1]:8786"),
        ("tcp://localhost:8786", "tcp://localhost:8786"),
        ("tcp://here.example:8786", "tcp://127.0.0.1:8786"),
        ("inproc://10.0.0.1/1/1", "inproc://10.0.0.1/1/1"),
    ],
)
def test_a_scheduler_on_this_computer_is_connected_to_by_its_number(names, address, place):
    assert admitted(address).address == place


@pytest.mark.parametrize(
    "address",
    [
        f"tcp://{ELSEWHERE}:8786",
        f"{ELSEWHERE}:8786",
        "tcp://there.example:8786",
        "tcp://both.example:8786",
        "tcp://[2001:db8::1]:8786",
        "tcp://0.0.0.0:8786",
        f"ws://{ELSEWHERE}:8786",
        f"ucx://{ELSEWHERE}:8786",
        "tcp://127.0.0.1.there.example:8786",
        "tcp://127.0.0.1:80@there.example:8786",
    ],
)
def test_a_scheduler_elsewhere_is_refused_unless_it_is_trusted(names, address):
    with pytest.raises(AddressError) as caught:
        admitted(address)
    assert "\n" not in str(caught.value)
    if "@" not in address and not address.endswith(".there.example:8786"):
        assert caught.type is UntrustedClusterError
        assert "can run programs here as you" in str(caught.value)
        names.clear()
        assert admitted(address, trusted=True).address.endswith(address.rpartition("/")[2])
        assert not names  # no name is looked up for what is allowed anyway


def test_nothing_is_sent_to_a_scheduler_that_is_not_trusted(names, monkeypatch):
    monkeypatch.setattr("distributed.Client", lambda *_, **__: pytest.fail("a client was made"))
    with pytest.raises(UntrustedClusterError), connected(f"tcp://{ELSEWHERE}:8786"):
        pass


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1", "tcp://:8786", "", "tcp://a:b:c", "tcp://x\0y:1", "tcp://nobody:1"]
)
def test_what_is_no_address_is_told_in_one_line(names, address):
    with pytest.raises(AddressError, match=r"such as tcp://HOST:PORT|no computer is called"):
        admitted(address)


def test_tls_without_certificates_is_refused_even_if_trusted(names):
    for trusted in (False, True):
        with pytest.raises(AddressError, match="needs certificates"):
            admitted("tls://there.example:8786", trusted=trusted)


def test_what_is_no_certificate_is_told(tmp_path):
    path = tmp_path / "no.pem"
    for content in (None, "nothing", ""):
        if content is not None:
            path.write_text(content, encoding="utf-8")
        with pytest.raises(AddressError, match="certificates of the cluster cannot be used"):
            tls_security(path, path, path)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Two authorities and a certificate of each: the files of ca, cert and key, twice."""
    if shutil.which("openssl") is None:
        pytest.skip("certificates are made by openssl, which is not installed")
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(*words):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, timeout=60)

    def made(name):
        ca, ca_key, cert, key = (folder / f"{name}-{part}.pem" for part in ("ca", "ca-key", "cert", "key"))
        asked = folder / f"{name}.csr"
        new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
        openssl("req", "-x509", *new, "-keyout", ca_key, "-out", ca, "-days", 2, "-subj", f"/CN={name} authority")
        openssl("req", *new, "-keyout", key, "-out", asked, "-subj", f"/CN={name}")
        openssl("x509", "-req", "-in", asked, "-CA", ca, "-CAkey", ca_key, "-CAcreateserial", "-out", cert, "-days", 2)
        return ca, cert, key

    return made("ours"), made("theirs")


def test_certificates_admit_another_computer_and_only_encrypted(names, certificates):
    security = tls_security(*certificates[0])
    found = admitted("tls://there.example:8786", security=security)
    assert found.encrypted
    assert found.security.require_encryption
    with pytest.raises(AddressError, match="begins with tls://"):
        admitted("tcp://127.0.0.1:8786", security=security)


def test_certificates_of_the_configuration_of_dask_count_as_given(names, certificates):
    ca, cert, key = map(str, certificates[0])
    with dask.config.set(
        {"distributed.comm.tls.ca-file": ca, "distributed.comm.tls.client": {"cert": cert, "key": key}}
    ):
        assert admitted("tls://there.example:8786").security.tls_client_cert == cert
        with pytest.raises(UntrustedClusterError):
            admitted("tcp://there.example:8786")


def test_a_cluster_with_tls_works_for_who_has_a_certificate_of_its_authority(certificates, monkeypatch):
    import distributed

    (ca, cert, key), others = certificates
    roles = {
        f"tls_{role}_{part}": str(path)
        for role in ("scheduler", "worker", "client")
        for part, path in (("cert", cert), ("key", key))
    }
    theirs = distributed.Security(tls_ca_file=str(ca), require_encryption=True, **roles)
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tls",
        host="127.0.0.1",
        dashboard_address=":0",
        security=theirs,
    ) as cluster:
        address = cluster.scheduler_address
        assert address.startswith("tls://127.0.0.1:")
        with connected(address, security=tls_security(ca, cert, key)) as client:
            assert client.submit(sum, (1, 2)).result() == 3
        monkeypatch.setattr("kfrc.blocks.connection.CONNECT_TIMEOUT", 1.0)
        with (
            pytest.raises(WorkerError, match=r"no Dask scheduler answers at tls://.*certificate of the same authority"),
            connected(address, security=tls_security(*others)),
        ):
            pass
