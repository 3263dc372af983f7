"""The outlook of a study that runs: which cell is next, and how long the rest will take."""

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
        self._seconds: dict[str, float] = {}  # of the cells that are done
        self.total = len(cells)
        self.cells = sorted(cells, key=lambda cell: -(self._expected(cell.place) or 0))

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
                    self._seconds[place] = outcome.seconds

    def left(self) -> float | None:
        """Return the seconds until the last cell ends; None while nothing is known yet."""
        expected = {place: self._expected(place) for place in self._left}
        if not self._known and not self._seconds:
            return None
        rests = [(e or 0.0) * (1 - self.running.get(place, 0.0)) for place, e in expected.items()]
        return makespan(rests, self.cores)

    def _expected(self, place: str) -> float | None:
        """Return a cell's seconds: those of its like, else measured, else by its work."""
        like = [s for p, s in self._seconds.items() if self._pace[p] == self._pace[place]]
        if like:
            return sum(like) / len(like)
        if place in self._known:
            return self._known[place]
        work = sum(self._weights[p] for p in self._seconds)
        scale = sum(self._seconds.values()) / work if work else 1.0
        return self._weights[place] * scale
