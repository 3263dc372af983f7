"""What clients keep grows with heads and means, not with models."""

import tracemalloc

import numpy as np
import pytest

from driftfold.algorithms.adaptation import FedADE
from driftfold.compute.memories import Memories
from driftfold.nets import MiniResNet6
from driftfold.tasks.streams import Source, StreamProblem
from driftfold.trees import leaves, nbytes, spread
from tests.algorithms.adaptation.streams import small

CLIENTS = 1000


@pytest.fixture(scope="module")
def problem() -> StreamProblem:
    """The digits' streams with a MiniResNet6 that was never trained: sizes alone count."""
    made, old = small(clients=CLIENTS), small().source
    model = MiniResNet6().model(made.model.inputs, 10, np.dtype("float32"))
    start = model.initial(made.fleet.seed.stream("start")).astype(model.dtype)
    known = (old.reference, old.reference_labels, old.held_out, old.held_out_labels)
    source = Source(model, start, old.prior, *known)
    return StreamProblem(source, made.stream, made.fleet, made.period)


def test_a_client_keeps_its_head_and_two_means(problem: StreamProblem) -> None:
    """phi, q and z, the ledger, eta, p, and two signals with their sum and number: 37 kB."""
    phi, k, d = 8906, 10, 128
    memory = FedADE().memory(problem)
    assert problem.model.layout.size > 300_000
    assert nbytes(memory) == 4 * phi + 8 * (k + d) + 80 + 8 + 8 * k + (3 + 1 + 1) * 8
    assert max(leaf.size for leaf in leaves(memory)) == phi


def test_a_thousand_clients_keep_less_than_100_mb(problem: StreamProblem) -> None:
    """With the store's room to grow and its row for new clients, and while it grows."""
    memory = FedADE().memory(problem)
    store = Memories(memory)
    tracemalloc.start()
    store.write(np.arange(CLIENTS), spread(memory, CLIENTS))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    held = store.read(np.zeros(0, dtype=np.int64))
    table = store._table
    assert 36e6 < nbytes(table) <= peak < 40e6
    assert len(leaves(table)) == len(leaves(held)) == len(leaves(memory))


def test_who_steps_on_heads_alone_sends_nothing(problem: StreamProblem) -> None:
    """The payload of a stack would be a full copy of the body for each client."""
    alone, usual = FedADE(shared_steps=0), FedADE()
    assert alone.phases(problem)[0].upload_bytes() == 0
    assert usual.phases(problem)[0].upload_bytes() > 1.1e6


def test_what_comes_down_is_one_body_for_all(problem: StreamProblem) -> None:
    rule = FedADE()
    down = rule.phases(problem)[0].broadcast(rule.begin(problem, problem.source.start), 0)
    everybody = spread(down, CLIENTS)
    assert everybody.shared.strides[0] == 0
    assert nbytes(down) < 1.25e6
