"""What the command line says of a Dask cluster: where it is, and why it may be connected to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import typer

from kfrc_app.cli import options
from kfrc_app.cli.console import say_problem


@dataclass(frozen=True)
class Cluster:
    """A scheduler that may be connected to.

    Attributes
    ----------
    address : str
    security : distributed.Security or None
    trusted : bool
        Whether it may be on another computer, without TLS.
    """

    address: str
    security: Any = None
    trusted: bool = False


def cluster_of(
    scheduler: str | None,
    tls_ca_file: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    trust_cluster: bool,
    *,
    own: str | None = None,
) -> Cluster | None:
    """The cluster that was named, None if none was; stops, before any work, if it must not be connected to.

    Parameters
    ----------
    scheduler, tls_ca_file, tls_cert, tls_key, trust_cluster
        As they were typed.
    own : str, optional
        What stands for a cluster that is started for the run, instead of an address.
    """
    from kfrc.blocks import AddressError, UntrustedClusterError, admitted

    files = {"--tls-ca-file": tls_ca_file, "--tls-cert": tls_cert, "--tls-key": tls_key}
    given = [flag for flag, path in files.items() if path is not None]
    if scheduler is None or scheduler == own:
        if given or trust_cluster:
            flag = given[0] if given else "--trust-cluster"
            _stop(f"{flag} is for a Dask cluster: name it with --scheduler ADDRESS, or leave {flag} out")
        return None if scheduler is None else Cluster(scheduler)
    try:
        security = _security(files) if given else None
        admitted(scheduler, security=security, trusted=trust_cluster)
    except ImportError:
        _stop("a Dask cluster needs the package distributed: pip install distributed", code=1)
    except UntrustedClusterError:
        _stop(
            f"the scheduler at {scheduler} is not on this computer, and whoever runs it or sits on the way to it can "
            "run programs here as you: use TLS (tls://HOST:PORT with --tls-ca-file, --tls-cert and --tls-key), or add "
            "--trust-cluster if you trust them all"
        )
    except AddressError as error:
        _stop(str(error))
    return Cluster(scheduler, security, trust_cluster)


def _security(files: dict[str, Path | None]) -> Any:
    from kfrc.blocks import tls_security

    paths = {flag: options.as_path(path) for flag, path in files.items() if path is not None}
    missing = [flag for flag in files if flag not in paths]
    if missing:
        _stop(f"TLS needs {', '.join(files)} together: {' and '.join(missing)} missing")
    for flag, path in paths.items():
        if not path.is_file():
            _stop(f"{flag}: there is no file {path}")
    return tls_security(*paths.values())


def _stop(message: str, *, code: int = options.USAGE) -> NoReturn:
    say_problem(message)
    raise typer.Exit(code)
