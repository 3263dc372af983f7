"""What the server computes: the next state from what arrived, and what it reports.

This is the only part of the world that touches tensors. While a run is replayed it is `asleep`.
"""

from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from driftfold.algorithms.base import Arrivals
from driftfold.algorithms.partial_work import PartialWork, innermost
from driftfold.algorithms.summing import Summing
from driftfold.arrays import Floats
from driftfold.combinations.aggregation import RunningSum
from driftfold.compute.download import Download
from driftfold.compute.results import Results
from driftfold.compute.tickets import TicketBook
from driftfold.errors import BadUpdate, ClientError
from driftfold.estimators.diagnostics import effective_size
from driftfold.tasks.metric import WeightMetric
from driftfold.telemetry.metrics import merge
from driftfold.telemetry.recorder import Recorder
from driftfold.trees import finite, spread, stack
from driftfold.world.arrival import Arrived
from driftfold.world.discount import Discount, figures
from driftfold.world.summed import Add, summed
from driftfold.world.tally import Tally
from driftfold.world.world import World


class Aggregator:
    """The tensor side of the server.

    Attributes
    ----------
    state
        The algorithm's server state.
    weighing
        The estimator's state.
    metrics
        The last evaluation.
    """

    def __init__(self, world: World, tickets: TicketBook, recorder: Recorder, tally: Tally) -> None:
        self._world = world
        self._tickets = tickets
        self._tally = tally
        self._recorder = recorder
        self.state: Any = None
        self.weighing: Any = None
        self.metrics: Mapping[str, float] = {}
        self.asleep = False
        self._spoiled = False
        self._latest: dict[int, Download] = {}  # by phase, since the server last moved
        self._downloads = 0
        self._seen = -1.0  # virtual time up to which changes of the data were told
        self._round: dict[int, Mapping[str, float]] = {}  # by phase, of its latest step
        self._detail: dict[int, Mapping[str, Any]] = {}
        self._means: dict[int, Mapping[str, float]] = {}  # of the clients' own figures
        self._wall, self._cpu = perf_counter(), process_time()

    def begin(self) -> None:
        """Set up the first states, and measure the first iterate."""
        world = self._world
        self.state = world.algorithm.begin(world.problem, world.problem.initial_point())
        self.weighing = world.weighing

    def parts(self) -> dict[str, Any]:
        """Return what a snapshot must hold of this: trees and plain values."""
        return {
            "state": self.state,
            "weighing": self.weighing,
            "metrics": dict(self.metrics),
            "spoiled": self._spoiled,
            "downloads": self._downloads,
            "seen": self._seen,
        }

    def restore(self, parts: Mapping[str, Any], version: int) -> None:
        """Take over what `parts` gave, at server version `version`."""
        self.state, self.weighing = parts["state"], parts["weighing"]
        self.metrics, self._spoiled = parts["metrics"], parts["spoiled"]
        self._downloads, self._seen = parts["downloads"], parts["seen"]
        for phase, sent in self._latest.items():
            if sent.tree is None:  # it was sent, and nobody has it any more
                sent.tree = self._world.phases[phase].broadcast(self.state, version)

    def broadcast(self, phase: int, version: int) -> Download:
        """Return what a phase sends down at this version.

        Asked again before the server has moved it returns the same object, so that clients who got
        it at different times share a stack.
        """
        sent = self._latest.get(phase)
        if sent is None:
            tree = None if self.asleep else self._world.phases[phase].broadcast(self.state, version)
            sent = self._latest[phase] = Download(self._downloads, tree)
            self._downloads += 1
        return sent

    def step(
        self,
        phase: int,
        arrivals: Arrived,
        version: int,
        time: float,
        discount: Discount | None = None,
    ) -> None:
        """Aggregate the arrivals of one phase into the state; weights by `discount`, too."""
        self._latest = {}
        if self.asleep:
            return
        if self._spoiled and phase:
            # An earlier phase of this round had nothing usable, so its download was void.
            return
        last = phase == len(self._world.phases) - 1
        good, payload = self._usable(phase, arrivals, version, time, discount)
        if good and self._apply(phase, good, payload, version, time, last, discount):
            self._spoiled = False
        else:
            self.skip(version)

    def skip(self, version: int) -> None:
        """Count a round that leaves the model as it was; once, whatever else it has no use for."""
        self._latest = {}
        if not self.asleep and not self._spoiled:
            self._spoil(self._world.estimator.skip(self.weighing, version + 1))

    def _spoil(self, weighing: Any) -> None:
        self._spoiled = True
        self._tally.add("skipped")
        self.weighing = weighing

    def complete(self, version: int, time: float, counts: Mapping[str, float]) -> None:
        """Report the round that led to `version`, and evaluate when it is time."""
        if self.asleep:
            return
        for change in self._world.problem.changes(self._seen, time):
            self._recorder.emit("drift", change.time, version, change.values, note=change.what)
        self._seen = time
        wall, cpu = perf_counter(), process_time()
        self._recorder.emit(
            "round",
            time,
            version,
            merge(counts, *self._round.values(), *self._means.values()),
            timing={"wall": wall - self._wall, "cpu": cpu - self._cpu},
            detail=_joined(self._detail),
        )
        self._wall, self._cpu = wall, cpu
        self._round, self._detail, self._means = {}, {}, {}
        self._spoiled = False
        if version % self._world.evaluate_every == 0:
            self.evaluate(version, time)

    def evaluate(self, version: int, time: float) -> None:
        """Measure the model and report it. Schedules no events, draws no numbers."""
        world = self._world
        model = world.algorithm.model(self.state)
        memories = None
        if self._tickets.memories is not None:
            self._tickets.flush()  # what clients learnt counts, needed by a step or not
            memories = self._tickets.memories.visited()
        self.metrics = merge(
            world.problem.evaluate(model, time),
            *(metric.measure(world.problem, model, time) for metric in world.metrics),
            *self._of_weights(version),
            world.algorithm.evaluate(world.problem, self.state, memories, time),
        )
        note = world.problem.remark() if version == 0 else ""
        self._recorder.emit("evaluation", time, version, self.metrics, note=note)

    def _of_weights(self, version: int) -> Iterable[Mapping[str, float]]:
        """What metrics of weights tell of the round to come."""
        world = self._world
        for metric in world.metrics:
            if isinstance(metric, WeightMetric):
                yield metric.measure_weights(
                    world.estimator, self.weighing, world.fleet, world.attendance, version + 1
                )

    def finish(self, version: int, time: float) -> None:
        """Measure the final model, unless that was just done."""
        if version % self._world.evaluate_every:
            self.evaluate(version, time)

    def _usable(
        self,
        phase: int,
        arrivals: Arrived,
        version: int,
        time: float,
        discount: Discount | None,
    ) -> tuple[Arrived, Any]:
        """Arrivals whose results are sound, their payloads; the others are counted and told.

        Where there is no room for all payloads, and only their sum is needed, it is worked out.
        """
        failed = {a.client: a.fault for a in arrivals if a.ticket is None}
        sent = Arrived(a for a in arrivals if a.ticket is not None) if failed else arrivals
        results = self._results(phase, sent, version, discount)
        failed |= {sent[i].client: why for i, why in results.failures.items()}
        rejected = {sent[i].client: why for i, why in results.faults.items()}
        rejects = len(results.faults)
        fails = len(arrivals) - len(results.good) - rejects  # a client may have failed twice
        if failed and self._world.faults.on_client_error == "fail":
            raise ClientError(_tell(failed, "failed", "on_client_error"))
        if rejected and self._world.faults.on_bad_update == "fail":
            raise BadUpdate(_tell(rejected, "sent no usable update", "on_bad_update"))
        if failed or rejected:
            note = "; ".join(f"client {c}: {why}" for c, why in sorted((failed | rejected).items()))
            counts = {"failed": float(fails), "rejected": float(rejects)}
            self._recorder.emit("fault", time, version, counts, note=note)
        good = sent if len(results.good) == len(sent) else sent.at(results.good)
        self._tally.add("accepted", len(good))
        self._tally.add("rejected", rejects)
        self._tally.add("failed", fails)
        if results.metrics:
            self._detail[phase] = {"client": good.clients, **results.metrics}
            self._means[phase] = {name: float(np.mean(v)) for name, v in results.metrics.items()}
        return good, results.payload

    def _results(
        self, phase: int, sent: Arrived, version: int, discount: Discount | None
    ) -> Results:
        """Results of the arrivals; of a phase that sums, and of many, the payload is the sum."""
        tickets = [a.ticket for a in sent if a.ticket is not None]
        work, size = self._world.phases[phase], self._tickets.block(tickets)
        if size == len(tickets) or not isinstance(work, Summing):
            return self._tickets.results(tickets)

        def adding(which: Sequence[int]) -> Add:
            among = sent.at(which)
            weights = self._weigh(phase, among, version, discount).weights

            def add(total: RunningSum, places: Sequence[int], payload: Any) -> None:
                if _usable_weights(weights):
                    some = among.at(places)
                    arrivals = self._arrivals(phase, some, payload, version, discount)
                    work.add(total, arrivals, weights[places])

            return add

        return summed(self._tickets, tickets, size, adding)

    def _weigh(
        self, phase: int, good: Arrived, version: int, discount: Discount | None
    ) -> "_Weighed":
        """The weights of those arrivals that count."""
        world = self._world
        clients = good.clients
        rule, round = world.estimator, version + 1
        foreseen = rule.foresee(self.weighing, world.attendance, clients, round)
        weights, weighing = rule.weigh(foreseen, world.fleet, clients, round)
        if world.faults.on_interrupt == "partial":
            weights = weights / self._shares(phase, good)
        if discount is None:
            return _Weighed(weights, weighing, {})
        ages = version - good.versions()
        factors = discount.factors(ages)
        return _Weighed(weights * factors, weighing, figures(ages, factors))

    def _apply(
        self,
        phase: int,
        good: Arrived,
        payload: Any,
        version: int,
        time: float,
        last: bool,
        discount: Discount | None,
    ) -> bool:
        world, work = self._world, self._world.phases[phase]
        weighed = self._weigh(phase, good, version, discount)
        weights = weighed.weights
        if not _usable_weights(weights):
            note = f"the weights of the {len(good)} updates are all zero, or not finite"
            self._recorder.emit("fault", time, version, {"void": 1.0}, note=note)
            if not weights.any():  # they responded: a rule may only now have heard of them
                self._spoil(weighed.weighing)
            return False
        if isinstance(payload, RunningSum):
            assert isinstance(work, Summing)
            state, metrics = work.advance(self.state, payload.value)
        else:
            arrivals = self._arrivals(phase, good, payload, version, discount)
            state, metrics = work.step(self.state, arrivals, weights)
        if not finite(state):
            note = (
                f"the step to version {version + 1} made the model infinite or NaN though every "
                "update was finite; take smaller steps"
            )
            if world.faults.on_bad_update == "fail":
                raise BadUpdate(note)
            self._recorder.emit("fault", time, version, {"void": 1.0}, note=note)
            return False
        self.state = state
        if last:
            self.weighing = weighed.weighing
        of_weights = _weight_metrics(weights) if last else {}
        self._round[phase] = merge(metrics, of_weights, weighed.told)
        return True

    def _shares(self, phase: int, good: Arrived) -> Floats:
        """Which share of its way each client went, (k,)."""
        shares, whole = np.ones(len(good)), self._world.phases[phase].steps
        worker = innermost(self._world.algorithm)
        for i, arrival in enumerate(good):
            if arrival.ticket is not None and arrival.ticket.steps < whole:
                assert isinstance(worker, PartialWork)
                version = arrival.order.version
                shares[i] = worker.share(version, arrival.ticket.steps)
        return shares

    def _arrivals(
        self,
        phase: int,
        good: Arrived,
        payload: Any,
        version: int,
        discount: Discount | None,
    ) -> Arrivals[Any, Any]:
        clients, versions, group = good.clients, good.versions(), good[0].order.group
        if discount is not None and discount.models:
            # As if all had been computed from the present state: ends count, not ways.
            sent = spread(self._world.phases[phase].broadcast(self.state, version), len(good))
            return Arrivals(clients, payload, sent, versions, np.zeros(len(good), bool), group)
        orders = good.orders if good.order is None else [good.order]
        trees = [order.payload.tree for order in orders]
        shared = all(tree is trees[0] for tree in trees)
        download = spread(trees[0], len(good)) if shared else stack(trees)
        return Arrivals(clients, payload, download, versions, versions < version, group)


class _Weighed(NamedTuple):
    """Weights (k,), what the estimator knows then, and what the record tells of staleness."""

    weights: Floats
    weighing: Any
    told: Mapping[str, float]


def _usable_weights(weights: Floats) -> bool:
    if 0 < weights.dot(weights) < np.inf:  # which tells it of almost all
        return True
    return bool(np.isfinite(weights).all() and weights.any())


def _joined(details: Mapping[int, Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Per-client figures of one phase as they are, of several phases with the phase's number."""
    if len(details) < 2:
        return next(iter(details.values()), None)
    return {f"{phase}.{name}": v for phase, own in details.items() for name, v in own.items()}


def _weight_metrics(weights: Floats) -> dict[str, float]:
    return {
        "weight_sum": float(np.add.reduce(weights)),
        "weight_max": float(np.maximum.reduce(weights)),
        "effective_size": effective_size(weights),
    }


def _tell(faults: Mapping[int, str], what: str, policy: str) -> str:
    client, why = next(iter(sorted(faults.items())))
    more = f" (and {len(faults) - 1} more clients)" if len(faults) > 1 else ""
    return f"client {client}{more} {what}: {why}; to go on without it, set faults.{policy}"
