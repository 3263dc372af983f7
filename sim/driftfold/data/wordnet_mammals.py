"""The is-a relation of mammals, which comes with the package."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from driftfold.data.relation import Relation, RelationSource, relation_of
from driftfold.errors import DataError
from driftfold.registry import register
from driftfold.rng import Seed

FILE = Path(__file__).parent / "mammals" / "closure.csv"
SHA256 = "c5a4c6ff8e8fc9ed43fe11af67a0f2090a0d2cde7f1d5f5341502d7576aae33c"


@register("wordnet_mammals")
@dataclass(frozen=True)
class WordNetMammals(RelationSource):
    """Transitive closure of is-a below mammal.n.01: 1,180 nouns, 6,540 pairs (lower, upper).

    From WordNet 3.0, Copyright 2006 by Princeton University; the folder ``mammals`` beside this
    file holds the licence and says how the pairs were made. Names are in alphabetical order.

    Examples
    --------
    >>> mammals = WordNetMammals().load(Seed(0))
    >>> len(mammals.names), mammals.pairs.shape, mammals.names[0]
    (1180, (6540, 2), 'aardvark.n.01')
    """

    def extent(self) -> tuple[int, int]:
        """1,180 names and 6,540 pairs."""
        return 1180, 6540

    def load(self, seed: Seed) -> Relation:
        """Read the file after checking it; the seed is not used."""
        return relation_of(read_closure(FILE))


def read_closure(path: Path) -> list[tuple[str, str]]:
    """Read the pairs of the file, if it is what was published with the package."""
    try:
        lines = path.read_text(encoding="ascii").split()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"cannot read {path} ({error}), which is part of driftfold; install it again"
        ) from None
    got = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    if got != SHA256:
        raise DataError(
            f"the lines of {path} have SHA-256 {got}, not {SHA256}: it was changed; install "
            "driftfold again"
        )
    return [(lower, upper) for lower, _, upper in (line.partition(",") for line in lines)]
