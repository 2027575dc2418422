"""Ask a database of known vulnerabilities about every package of an environment; no answer is no pass.

``python requirements/audit.py FOLDER``, where FOLDER is the site-packages of the environment, with pip-audit installed.
It ends with 0 if every package was asked about and nothing is known, with 1 if something is known, and with 3 if the
database could not be asked about all of them. pip-audit alone ends with 0 if it was told nothing about any package.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

SERVICES = ("pypi", "osv")
"""Databases, asked in this order until one has answered for every package."""

ACCEPTED: dict[str, str] = {}
"""Vulnerabilities that do not concern us, by identifier, with the reason; docs/decisions/audit.md lists them too."""

OWN = {"kfrc", "kfrc-core"}
NOTHING_KNOWN, KNOWN, NOT_ASKED = 0, 1, 3
_TIMEOUT = 900


def ask(service: str, folder: str) -> dict[str, Any] | str:
    """What pip-audit found out, or why it could not."""
    command = [sys.executable, "-m", "pip_audit", "--path", folder, "--vulnerability-service", service]
    command += ["--format", "json", "--progress-spinner", "off", "--timeout", "20"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)  # noqa: S603
        document = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return "it took too long"
    except ValueError:
        return (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
    return document if isinstance(document, dict) and "dependencies" in document else "it said something else"


def judge(answer: dict[str, Any] | str) -> tuple[int, list[str]]:
    """How the audit ends, and what to say."""
    if isinstance(answer, str):
        return NOT_ASKED, [f"no answer: {answer}"]
    packages = [package for package in answer["dependencies"] if package["name"].lower() not in OWN]
    silent = [package["name"] for package in packages if "vulns" not in package]
    if not packages or len(silent) == len(packages):
        return NOT_ASKED, [f"no answer for any of {len(packages)} packages"]
    lines, known = [], False
    for package in packages:
        for found in package.get("vulns", []):
            names = {found["id"], *found.get("aliases", [])}
            reason = next((ACCEPTED[name] for name in sorted(names) if name in ACCEPTED), None)
            known |= reason is None
            fixed = ", ".join(found.get("fix_versions", [])) or "no version yet"
            told = f"accepted: {reason}" if reason else f"fixed in {fixed}"
            lines.append(f"{package['name']} {package['version']}: {' '.join(sorted(names))}; {told}")
    if silent:
        lines.append(f"no answer for {len(silent)} of {len(packages)} packages: {', '.join(silent)}")
    elif not known:
        lines.append(f"{len(packages)} packages, all asked about: nothing known that is not accepted")
    return KNOWN if known else NOT_ASKED if silent else NOTHING_KNOWN, lines


def main(folder: str, ask: Callable[[str, str], dict[str, Any] | str] = ask) -> int:
    """Ask the databases, print what they say, and return how the audit ends."""
    end = NOT_ASKED
    for service in SERVICES:
        end, lines = judge(ask(service, folder))
        print("\n".join(f"{service}: {line}" for line in lines))
        if end != NOT_ASKED:
            return end
    print("NOT AUDITED: known vulnerabilities could not be asked for. This is not a pass; repeat it with a network.")
    return end


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
