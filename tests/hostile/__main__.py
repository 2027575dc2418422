"""``make hostile``: every attack in full, in processes of its own, and the table of tries and failures.

``python -m hostile`` (with ``tests`` on the path) takes names of attacks; ``--tries`` and ``--first`` say which seeds.
A single try is repeated by ``python -m hostile fits --first 123 --tries 1``.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import hostile.attacks  # noqa: F401
from hostile.attack import FAILED, FINE, REFUSED, Attack, Outcome

SHARE = 200
"""Tries of one process: what leaks from one try to the next must show, what crashes must not take all."""
SILENCE = 300
"""Seconds of the wall without a try that ends, after which a process hangs."""
GRACE = 20
"""Seconds for a process that has made its tries to end."""


def main() -> int:
    """Run the attacks; 1 if a try failed."""
    parser = argparse.ArgumentParser(prog="hostile", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="attacks; all of them if none is named")
    parser.add_argument("--tries", type=int, help="tries of each attack")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, help="file for all outcomes, as JSON lines")
    parser.add_argument("--share", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.share:
        return _make_share(Attack.registry[chosen.names[0]], range(chosen.first, chosen.first + chosen.tries))
    attacks = [Attack.registry[name] for name in chosen.names or Attack.registry]
    outcomes = {attack.name: _run(attack, chosen) for attack in attacks}
    print(table(outcomes))
    if chosen.out:
        lines = [json.dumps({"attack": name, **asdict(o)}) for name, ended in outcomes.items() for o in ended]
        chosen.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return int(any(outcome.ended == FAILED for ended in outcomes.values() for outcome in ended))


def table(outcomes: dict[str, list[Outcome]]) -> str:
    """Tries and how they ended, then every reason of a failure with the seed that shows it."""
    lines = [f"{'attack':<14}{'tries':>8}{'fine':>8}{'refused':>9}{'failed':>8}", "-" * 47]
    reasons: list[str] = []
    for name, ended in outcomes.items():
        counts = Counter(outcome.ended for outcome in ended)
        lines.append(f"{name:<14}{len(ended):>8}{counts[FINE]:>8}{counts[REFUSED]:>9}{counts[FAILED]:>8}")
        for reason, count in Counter(o.reason for o in ended if o.ended == FAILED).most_common():
            first = next(o.seed for o in ended if o.ended == FAILED and o.reason == reason)
            reasons.append(f"{name}: {count} x {reason} (first: seed {first})")
    total = Counter(outcome.ended for ended in outcomes.values() for outcome in ended)
    lines.append("-" * 47)
    lines.append(f"{'all':<14}{total.total():>8}{total[FINE]:>8}{total[REFUSED]:>9}{total[FAILED]:>8}")
    return "\n".join([*lines, "", *(reasons or ["no failures"])])


def _run(attack: Attack, chosen: argparse.Namespace) -> list[Outcome]:
    seeds = range(chosen.first, chosen.first + (attack.tries if chosen.tries is None else chosen.tries))
    shares = [seeds[k : k + SHARE] for k in range(0, len(seeds), SHARE)]
    outcomes: list[Outcome] = []
    with ThreadPoolExecutor(chosen.jobs) as pool:
        for ended in pool.map(lambda share: _in_processes(attack, share), shares):
            outcomes += ended
            for outcome in ended:
                if outcome.ended == FAILED:
                    print(f"{attack.name}: seed {outcome.seed}: {outcome.reason}", file=sys.stderr)
            failed = sum(outcome.ended == FAILED for outcome in outcomes)
            print(f"{attack.name}: {len(outcomes)} of {len(seeds)} tries, {failed} failed", file=sys.stderr, flush=True)
    return outcomes


def _in_processes(attack: Attack, seeds: range) -> list[Outcome]:
    """The tries of some seeds; a process that dies or hangs costs one try, and the rest goes to another."""
    outcomes: list[Outcome] = []
    while len(outcomes) < len(seeds):
        left = seeds[len(outcomes) :]
        outcomes += _in_process(attack, left)
    return outcomes


def _in_process(attack: Attack, seeds: range) -> list[Outcome]:
    command = [sys.executable, "-m", "hostile", attack.name, "--share"]
    process = subprocess.Popen(
        [*command, "--first", str(seeds[0]), "--tries", str(len(seeds))],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )
    lines: queue.Queue[str] = queue.Queue()
    reader = threading.Thread(target=_read_into, args=(process.stdout, lines), daemon=True)
    reader.start()
    outcomes: list[Outcome] = []
    while len(outcomes) < len(seeds):
        try:
            line = lines.get(timeout=SILENCE)
        except queue.Empty:
            outcomes.append(Outcome(seeds[len(outcomes)], FAILED, "hangs"))
            break
        if not line:
            outcomes.append(Outcome(seeds[len(outcomes)], FAILED, f"the process ended with status {process.wait()}"))
            break
        outcomes.append(Outcome(**json.loads(line)))
    else:
        with suppress(subprocess.TimeoutExpired):  # one that ends by itself takes its own workers along
            process.wait(GRACE)
    process.kill()
    process.wait()
    return outcomes


def _read_into(stream, lines: queue.Queue[str]) -> None:
    for line in stream:
        lines.put(line)
    lines.put("")


def _make_share(attack: Attack, seeds: range) -> int:
    """What a process of the run does: one line for each try."""
    told = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a try prints is not an outcome
    for seed in seeds:
        with tempfile.TemporaryDirectory(prefix="hostile-", ignore_cleanup_errors=True) as folder:
            print(json.dumps(asdict(attack.outcome(seed, Path(folder)))), file=told, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
