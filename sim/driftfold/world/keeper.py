"""The keeper: writes snapshots, and brings a resumed run back to where one was taken.

Coroutines cannot be saved. Timing does not depend on tensors, so a run is brought back by playing
its events again with compute off, and then loading the tensors. Where nothing was in flight, at
the end of a synchronous round, there is nothing to play again and the run restarts from the state.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from driftfold.checkpoint.base import CheckpointStore, Snapshot
from driftfold.compute.download import Download
from driftfold.errors import CheckpointError, ReplayMismatch
from driftfold.kernel import now
from driftfold.telemetry.recorder import Recorder
from driftfold.trees import decode, encode
from driftfold.world.roster import Roster
from driftfold.world.server import Server

FORMAT = 4


class Keeper:
    """Keeps one run's snapshots.

    Attributes
    ----------
    store, run
        Where snapshots go, and under which name; no store keeps none.
    every
        Server steps between snapshots; 0 takes none.
    identity
        What must be equal for a snapshot to belong to this run (the specification's digest).
    facts
        What else to write into each snapshot (the software's fingerprint).
    past
        The snapshot to resume from, until that is done.
    stop
        Asked after every step whether to end the run now.
    due
        Asked after every step whether to take a snapshot now, beside those of `every`.
    """

    def __init__(
        self,
        recorder: Recorder,
        store: CheckpointStore | None,
        run: str,
        every: int,
        identity: Mapping[str, Any],
        facts: Mapping[str, Any],
        past: Snapshot | None = None,
        stop: Callable[[], bool] | None = None,
        due: Callable[[], bool] | None = None,
    ) -> None:
        self._recorder = recorder
        self._store = store
        self._run = run
        self._every = every
        self._identity = identity
        self._facts = facts
        self._stop = stop
        self._due = due
        self._saved = -1
        self.past = past
        if past is not None:
            self._check(past.meta)

    @property
    def start(self) -> float:
        """Virtual time at which the loop must start."""
        return self.past.meta["time"] if self.past and self.past.meta["quiet"] else 0.0

    def begin(self, server: Server) -> None:
        """Start afresh, or restart from a quiet snapshot, or fall asleep until replay is done."""
        server.aggregator.begin()
        if self.past is None:
            server.aggregator.evaluate(0, now())
        elif self.past.meta["quiet"]:
            server.trace.restore(self.past.meta["trace"])
            self._watch(server, self.past.meta["watched"])
            self._load(server, self.past)
        else:
            server.decisions = [list(d) for d in self.past.meta["decisions"]]
            self._sleep(server, True)

    def after_step(self, server: Server) -> None:
        """Take a snapshot when one is due; or wake up when replay has come far enough."""
        if self.past is not None:
            if server.version == self.past.meta["version"]:
                self._compare(server, self.past.meta)
                self._load(server, self.past)
                self._sleep(server, False)
        elif (self._every and server.version % self._every == 0) or (self._due and self._due()):
            self._save(server)

    def stopping(self, server: Server) -> bool:
        """Whether the run is to end here; a last snapshot lets it go on later."""
        if self.past is not None or self._stop is None or not self._stop():
            return False
        self._save(server)
        return True

    def _save(self, server: Server) -> None:
        if self._store is not None and self._saved != server.version:
            self._recorder.sync()  # no snapshot may point past the records that are on disk
            name = self._store.save(self._run, self.snapshot(server))
            self._recorder.checkpointed(name)
            self._saved = server.version

    def end(self, server: Server) -> None:
        """Measure the final model; raise `ReplayMismatch` if replay never came to its snapshot."""
        if self.past is not None:
            raise ReplayMismatch(
                f"the run ended at server version {server.version} while it was replayed up to "
                f"version {self.past.meta['version']}: the code, a plug-in or a package has "
                "changed what happens; resume with the versions of the first run, or start the run "
                "afresh"
            )
        server.aggregator.finish(server.version, now())

    def snapshot(self, server: Server) -> Snapshot:
        """Return everything that the run needs to go on from here."""
        arrays: dict[str, Any] = {}
        aggregator, memories = server.aggregator, server.tickets.memories
        trace = server.trace
        tickets = server.tickets.snapshot(arrays)
        meta = {
            **self._facts,
            "format": FORMAT,
            "identity": dict(self._identity),
            "time": now(),
            "version": server.version,
            "dispatches": server.dispatches,
            "carried": [list(pair) for pair in sorted(server.carried.items())],
            "quiet": not (server.in_flight or tickets["tickets"]) and server.inbox.empty,
            "events": trace.count,
            "event_digest": trace.digest(),
            "trace": trace.state(),
            "decisions": server.decisions[: server.decided],
            "recorder": self._recorder.state(),
            "tally": server.tally.state(),
            "tickets": tickets,
            "downloads": {
                str(number): encode(sent.tree, arrays)
                for number, sent in sorted(server.downloads().items())
            },
            "aggregator": encode(aggregator.parts(), arrays),
            "choosing": encode(server.choosing, arrays),
            "watched": None if server.roster is None else server.roster.watched,
            "memories": None if memories is None else encode(memories.visited(), arrays),
        }
        return Snapshot(meta, arrays)

    def _watch(self, server: Server, watched: Sequence[int] | None) -> None:
        """Restore the roster, without which the same clients might be chosen in another way."""
        if watched is not None:
            world = server.world
            others = np.delete(np.arange(world.fleet.size), watched)
            server.roster = Roster(world.attendance, others, now(), watched)

    def _load(self, server: Server, past: Snapshot) -> None:
        meta, arrays = past.meta, past.arrays
        server.version, server.dispatches = meta["version"], meta["dispatches"]
        server.carried = dict(meta["carried"])
        server.decisions = [list(d) for d in meta["decisions"]]
        server.decided = len(server.decisions)
        server.tally.restore(meta["tally"])
        server.tickets.restore(meta["tickets"], arrays)
        server.choosing = decode(meta["choosing"], arrays)
        self._refill(server.downloads(), past)
        server.aggregator.restore(decode(meta["aggregator"], arrays), server.version)
        if server.tickets.memories is not None:
            server.tickets.memories.restore(*decode(meta["memories"], arrays))
        self._recorder.restore(meta["recorder"])
        self.past = None

    def _refill(self, sent: Mapping[int, Download], past: Snapshot) -> None:
        """Fill the downloads that were sent again without tensors while events were replayed."""
        wanted = {int(number): tree for number, tree in past.meta["downloads"].items()}
        if not wanted.keys() <= sent.keys():
            raise ReplayMismatch(
                f"replay has the downloads {sorted(sent)[:9]} in use; the run had "
                f"{sorted(wanted)[:9]}: the code has changed what happens, start the run afresh"
            )
        for number, tree in wanted.items():
            sent[number].tree = decode(tree, past.arrays)

    def _sleep(self, server: Server, asleep: bool) -> None:
        server.aggregator.asleep = server.tickets.asleep = asleep

    def _compare(self, server: Server, meta: Mapping[str, Any]) -> None:
        trace = server.trace
        got = (trace.count, trace.digest(), now(), server.dispatches)
        wanted = (meta["events"], meta["event_digest"], meta["time"], meta["dispatches"])
        if got != wanted:
            raise ReplayMismatch(
                f"replay to server version {server.version} gave (events, digest, time, "
                f"dispatches) = {got}; the snapshot was taken at {wanted}: the code, a plug-in or "
                "a package has changed what happens; resume with the versions of the first run "
                "or start the run afresh"
            )

    def _check(self, meta: Mapping[str, Any]) -> None:
        if meta.get("format") != FORMAT:
            raise CheckpointError(
                f"the snapshot has format {meta.get('format')}; this version reads {FORMAT}"
            )
        if meta["identity"] != dict(self._identity):
            raise CheckpointError(
                f"the snapshot belongs to another experiment ({meta['identity']}); this one is "
                f"{dict(self._identity)}; choose another folder, or run the same specification"
            )
