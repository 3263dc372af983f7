"""Odd numbers in every field of fleets: refused by name, or run to the end in bounds.

In a process of its own, with little memory and time.
"""

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from driftfold.errors import CapabilityError, SpecError
from driftfold.run import run
from driftfold.spec import from_mapping
from tests import forking
from tests.faults import odd_numbers
from tests.faults.odd_numbers import BASE, Case, cases

# What has ended in an error without a word for the user, or never.
FOUND = (
    "participation.outage.regions = 9223372036854775808",
    "participation.markov.regions = 1000000000000000000",
    "participation.markov.slot = 1e-300",
    "participation.cyclic.period = 1000000000000000000",
    "participation.adversarial.every = 1e-320",
    "participation.diurnal_sessions.session = 5e-324",
    "participation.diurnal_sessions.duty = 1e-07",
    "participation.markov_sessions.p = 1e-07",
    "participation.markov_sessions.spread = 1e+18",
    "participation.staircase.length = 9223372036854775808",
    "cadence.buffered.max_staleness = 9223372036854775808",
    "staleness.hinge.b = 9223372036854775808",
    "estimator.fedau.cutoff = 9223372036854775808",
    "estimator.window.rounds = 4294967296",
    "cadence.asynchronous_tiers.tiers = 2147483648",
    "cadence.asynchronous_tiers.probes = 2147483648",
    "cadence.buffered.buffer = 2147483648",
    "cadence.buffered.restock = 1e+18",
    "cadence.periodic.restock = 1e-320",
    "cadence.periodic.period = 1e+18",
    "cadence.immediate.rate = 1e+300",
    "estimator.past.prior = 1e-300",
)


def check(some: list[Case], folder: Path) -> None:
    file = folder / "cases.json"
    file.write_text(json.dumps(some))
    done = forking.run(["python", odd_numbers.__file__, str(file)], folder, dict(os.environ))
    assert done.returncode == 0, done.stderr
    told: list[tuple[str, str]] = [json.loads(line) for line in done.stdout.splitlines()]
    assert [name for name, _ in told] == [name for name, *_ in some]
    assert [one for one in told if one[1]] == []


def test_what_was_found_and_some_others(tmp_path: Path) -> None:
    everything = {name: (name, *rest) for name, *rest in cases()}
    others = random.Random(4).sample(sorted(everything), 12)
    check([everything[name] for name in [*FOUND, *others]], tmp_path)  # type: ignore[misc]


@pytest.mark.slow
@pytest.mark.parametrize("family", [*odd_numbers.FAMILIES, "estimator"])
def test_every_number_of_every_kind(family: str, tmp_path: Path) -> None:
    check([case for case in cases() if case[0].startswith(f"{family}.")], tmp_path)


@pytest.mark.parametrize("kind", ["tiered", "asynchronous_tiers"])
def test_more_tiers_than_clients_are_refused(kind: str) -> None:
    spec = from_mapping({**BASE, "cadence": {"kind": kind, "tiers": 7}})
    with pytest.raises(SpecError, match=r"cadence\.tiers: got 7 for 6 clients.*to 6 or fewer"):
        run(spec)


@pytest.mark.parametrize("on_interrupt", ["lose", "partial"])
def test_force_is_not_advised_where_it_has_no_meaning(on_interrupt: str) -> None:
    given: dict[str, Any] = {
        **BASE,
        "algorithm": {"kind": "mifa", "algorithm": BASE["algorithm"]},
        "cadence": {"kind": "buffered", "beyond": "force", "max_staleness": 3},
        "faults": {"on_interrupt": on_interrupt},
    }
    with pytest.raises(CapabilityError) as error:
        run(from_mapping(given))
    assert "'mifa' takes no part of a client's work" in str(error.value)
    assert "beyond to 'drop' or 'clip'" in str(error.value)
    assert "faults.on_interrupt = 'partial'" not in str(error.value)
