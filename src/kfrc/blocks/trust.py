"""Which Dask schedulers are connected to: those of this computer, those that TLS vouches for, those that a user trusts.

Dask sends functions and results as pickles, and a pickle can do anything when it is read. So whoever runs a scheduler,
or sits on the way to it, can run programs in the process that connects. A user who makes a ``distributed.Client`` has
decided whom to trust; for an address it is decided here.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from importlib import import_module
from ipaddress import IPv4Address, IPv6Address, ip_address
from os import PathLike
from typing import Any

from kfrc.exceptions import KFRCError

_SAME_PROCESS = "inproc"
_ENCRYPTED = frozenset({"tls", "wss"})
_LOCALHOST = "localhost"
_LOADER = "distributed.client.security-loader"


class AddressError(KFRCError):
    """An address where no Dask scheduler can be, or TLS that cannot be used with it; the message says why."""


class UntrustedClusterError(AddressError):
    """A scheduler elsewhere that neither TLS nor the user vouches for."""


@dataclass(frozen=True)
class Admitted:
    """A scheduler that may be connected to.

    Attributes
    ----------
    address : str
        Where to connect: a name that was looked up is a number here, so that it leads nowhere else the next time.
    security : distributed.Security or None
        None for what Dask's own configuration says.
    """

    address: str
    security: Any = None

    @property
    def encrypted(self) -> bool:
        """Whether nobody on the way can read along or answer instead."""
        return self.address.partition("://")[0] in _ENCRYPTED

    @property
    def doubt(self) -> str:
        """What to ask if nobody answers."""
        return "is it running, with a certificate of the same authority?" if self.encrypted else "is it running?"


def admitted(address: str, *, security: Any = None, trusted: bool = False) -> Admitted:
    """Decide whether a scheduler may be connected to, before anything is sent there.

    Parameters
    ----------
    address : str
        Such as ``"tcp://127.0.0.1:8786"`` or ``"tls://host:8786"``.
    security : distributed.Security, optional
        Certificates; by default those of Dask's configuration (``distributed.comm.tls``), if it has any.
    trusted : bool, default=False
        Whether the user trusts whoever runs the scheduler, and everybody on the way to it.

    Returns
    -------
    Admitted

    Raises
    ------
    UntrustedClusterError
        If the scheduler is not on this computer, there is no TLS, and nobody trusts it.
    AddressError
        If it is no address, or certificates are missing, damaged or of no use with it.
    """
    addressing = import_module("distributed.comm.addressing")
    scheme, location = addressing.parse_address(address)
    if scheme == _SAME_PROCESS:
        return Admitted(address)
    host, port = _host_and_port(address, location)
    place = f"{scheme}://{location}"
    if scheme in _ENCRYPTED:
        return Admitted(place, _with_certificates(address, security))
    if _has_certificates(security):
        raise AddressError(f"certificates need an address that begins with tls://, got {address}")
    if trusted:
        return Admitted(place, security)
    there = _looked_up(address, host, port)
    if not all(_is_loopback(number) for number in there):
        raise UntrustedClusterError(
            f"the scheduler at {address} is not on this computer, and whoever runs it or sits on the way to it can run "
            "programs here as you: use TLS (an address tls://HOST:PORT and security=), or trusted=True if you trust all"
        )
    if host.lower() != _LOCALHOST:
        place = f"{scheme}://{addressing.unparse_host_port(str(there[0]), port)}"
    return Admitted(place, security)


def tls_security(ca_file: str | PathLike[str], cert: str | PathLike[str], key: str | PathLike[str]) -> Any:
    """Certificates for a cluster: only who has one of the same authority is spoken with, and only encrypted.

    Parameters
    ----------
    ca_file, cert, key : path
        The certificate of the authority, the own certificate, and its key, as PEM files.

    Returns
    -------
    distributed.Security

    Raises
    ------
    AddressError
        If one of them cannot be read or is something else.
    """
    security = import_module("distributed").Security(
        require_encryption=True, tls_ca_file=str(ca_file), tls_client_cert=str(cert), tls_client_key=str(key)
    )
    return _usable(security)


def _host_and_port(address: str, location: str) -> tuple[str, int]:
    addressing = import_module("distributed.comm.addressing")
    try:
        host, port = addressing.parse_host_port(location)
    except ValueError:
        host, port = "", 0
    if not host:
        raise AddressError(f"the address of a scheduler is such as tcp://HOST:PORT, got {address!r}")
    return str(host), int(port)


def _looked_up(address: str, host: str, port: int) -> list[IPv4Address | IPv6Address]:
    """All places to which the name of a computer leads."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return [ip_address(str(entry[4][0])) for entry in found]
    except (OSError, ValueError, OverflowError):
        raise AddressError(f"no Dask scheduler answers at {address}: no computer is called {host!r}") from None


def _is_loopback(number: IPv4Address | IPv6Address) -> bool:
    inner = number.ipv4_mapped if isinstance(number, IPv6Address) else None
    return (inner or number).is_loopback


def _has_certificates(security: Any) -> bool:
    return security is not None and bool(security.tls_ca_file and security.tls_client_cert)


def _with_certificates(address: str, security: Any) -> Any:
    """The certificates that were given, or those that Dask is configured to use."""
    if security is None and import_module("dask").config.get(_LOADER, None):
        return None
    found = import_module("distributed").Security(require_encryption=True) if security is None else security
    if not _has_certificates(found):
        raise AddressError(
            f"{address} needs certificates: give those of the authority and your own with its key, or name them in "
            "Dask's configuration (distributed.comm.tls)"
        )
    return _usable(found)


def _usable(security: Any) -> Any:
    """Certificates that could be read."""
    try:
        security.get_connection_args("client")
    except (OSError, ValueError) as error:
        raise AddressError(f"the certificates of the cluster cannot be used: {error}") from None
    return security
