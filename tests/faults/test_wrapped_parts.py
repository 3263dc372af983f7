"""Parts of the work inside wrappers, against calculations by hand.

Client 0 leaves when two of its three steps are done; client 1 does all. See `test_interrupts`.
"""

from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Array
from driftfold.assembly import build
from driftfold.spec import from_mapping
from tests.faults.test_interrupts import ALPHA, STEPS, TWO, counted, model_of, visit

SHARE = 2 / STEPS


def ways() -> tuple[Array, Array]:
    """What the two clients send: two steps' way from 0, and three steps'."""
    one, two = build(from_mapping(TWO)).problem.centres  # type: ignore[attr-defined]
    return (1 - (1 - ALPHA) ** 2) * one, (1 - (1 - ALPHA) ** STEPS) * two


def wrapped(kind: str, **fields: Any) -> Array:
    """The model after a round of FedAvg inside a wrapper."""
    table = {"kind": kind, "algorithm": TWO["algorithm"], **fields}
    result = visit("partial", 0.0, 3.5, algorithm=table)
    assert counted(result) == {"arrived": 2, "partial": 1}
    return result.model


def largest(u: Array) -> Array:
    return np.where(np.abs(u) == np.abs(u).max(), u, 0.0)


def cut(u: Array, length: float) -> Array:
    return u * min(1.0, length / float(np.linalg.norm(u)))


def test_compressed() -> None:
    """A part is coded, and its message counts for more."""
    got = wrapped("compressed", compressor={"kind": "top_k", "k": 1})
    part, whole = ways()
    want = (largest(part) / SHARE + largest(whole)) / 2
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-14)


def test_private_at_the_client() -> None:
    got = wrapped("private", where="client", noise=0.0, clip=0.3, delta="none")
    part, whole = ways()
    want = (cut(part, 0.3) / SHARE + cut(whole, 0.3)) / 2
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("most", "factor"), [(10.0, 1 / SHARE), (1.2, 1.2)])
def test_private_at_the_server(most: float, factor: float) -> None:
    """No part has a larger weight than the noise is made for."""
    got = wrapped("private", noise=0.0, clip=0.3, max_weight=most, delta="none")
    part, whole = ways()
    want = (cut(part, 0.3) * factor + cut(whole, 0.3)) / 2
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-14)


def test_adversarial() -> None:
    got = wrapped("adversarial", attack="sign_flip", attackers=[0])
    part, whole = ways()
    np.testing.assert_allclose(got, (whole - part / SHARE) / 2, rtol=0, atol=1e-14)


def test_tiers_side_by_side() -> None:
    """Each tier has one client, and one round: the mean of both tiers' models."""
    table = {"kind": "fedat", "tiers": 2, "algorithm": TWO["algorithm"]}
    tiers = {"kind": "asynchronous_tiers", "tiers": 2}
    result = visit(
        "partial", 0.0, 3.5, algorithm=table, cadence=tiers, horizon={"rounds": 2}
    )  # fmt: skip
    assert (result.time, result.counts["partial"]) == (4.0, 1)
    np.testing.assert_allclose(result.model, model_of(2, STEPS), rtol=0, atol=1e-14)
