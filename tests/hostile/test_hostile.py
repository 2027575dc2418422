"""The quick share of every attack; the whole is ``make hostile``."""

from __future__ import annotations

import pytest

import hostile.attacks  # noqa: F401
from hostile.attack import FAILED, Attack

pytestmark = pytest.mark.slow

TOGETHER = 10
SHARES = [
    pytest.param(attack, range(first, min(first + TOGETHER, attack.quick)), id=f"{name}-{first}")
    for name, attack in Attack.registry.items()
    for first in range(0, attack.quick, TOGETHER)
]


@pytest.mark.parametrize(("attack", "seeds"), SHARES)
def test_hostile_tries_end_well_or_are_refused(attack, seeds, tmp_path):
    failures = []
    for seed in seeds:
        folder = tmp_path / str(seed)
        folder.mkdir()
        outcome = attack.outcome(seed, folder)
        if outcome.ended == FAILED:
            failures.append(f"seed {seed}: {outcome.reason}\n{outcome.detail}")
    assert not failures, "\n\n".join(failures)
