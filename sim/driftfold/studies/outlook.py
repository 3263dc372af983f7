"""The outlook of a study that runs: which cell is next, and how long the rest will take."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from driftfold.studies.cells import Cell
from driftfold.studies.crew import Advanced, Ended, Event, Started
from driftfold.studies.rates import Rate, makespan, pace_key, workload


class Outlook:
    """Expects of each cell what was measured of its like, and corrects itself as cells end.

    Attributes
    ----------
    cells
        What is to be run, the most expensive first.
    cores
        How many cells run at a time.
    running
        Share of each running cell that is done, 0 to 1.
    """

    def __init__(self, cells: Sequence[Cell], rates: Mapping[str, Rate], cores: int) -> None:
        self.cores = cores
        self.running: dict[str, float] = {}
        self._weights = {cell.place: workload(cell.spec) for cell in cells}
        self._pace = {cell.place: pace_key(cell.spec) for cell in cells}
        self._known = {
            cell.place: rates[self._pace[cell.place]].expected(cell.spec)
            for cell in cells
            if self._pace[cell.place] in rates
        }
        self._left = {cell.place for cell in cells}
        # Sums over the cells that are done: each event asks for all that are left, and a study may
        # have thousands.
        self._done: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])  # by pace
        self._spent = self._work = 0.0
        self.total = len(cells)
        self.cells = sorted(cells, key=lambda cell: -self._expected(cell.place))

    @property
    def done(self) -> int:
        """How many cells are over."""
        return self.total - len(self._left)

    def take(self, event: Event[Cell]) -> None:
        """Take note of what happened."""
        place = event.key.place
        match event:
            case Started():
                self.running[place] = 0.0
            case Advanced(rounds=rounds):
                self.running[place] = min(1.0, rounds / (event.key.spec.horizon.rounds or rounds))
            case Ended(outcome=outcome):
                self.running.pop(place, None)
                self._left.discard(place)
                if outcome.ended == "done":
                    like = self._done[self._pace[place]]
                    like[0] += outcome.seconds
                    like[1] += 1
                    self._spent += outcome.seconds
                    self._work += self._weights[place]

    def left(self) -> float | None:
        """Return the seconds until the last cell ends; None while nothing is known yet."""
        if not self._known and not self._done:
            return None
        rests = [self._expected(p) * (1 - self.running.get(p, 0.0)) for p in self._left]
        return makespan(rests, self.cores)

    def _expected(self, place: str) -> float:
        """Return a cell's seconds: those of its like, else measured, else by its work."""
        if (pace := self._pace[place]) in self._done:
            seconds, count = self._done[pace]
            return seconds / count
        if place in self._known:
            return self._known[place]
        return self._weights[place] * (self._spent / self._work if self._work else 1.0)
