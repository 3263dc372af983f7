"""How the pairs were made: run it on the database files of WordNet 3.0 to make them again.

Usage: ``python make.py FOLDER`` where FOLDER holds ``data.noun`` and ``index.noun``.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = "mammal.n.01"
LEFT_OUT = {"tusker.n.01", "female_mammal.n.01"}  # absent from the published set, too
ABOVE = ("@", "@i")  # hypernym, class of an instance


def entries(path: Path) -> Iterator[list[str]]:
    """Words of each line without its gloss; the licence's lines begin with a space."""
    for line in path.read_text("latin-1").splitlines():
        if not line.startswith(" "):
            yield line.partition("|")[0].split()


def sense_numbers(index: Path) -> dict[tuple[str, str], int]:
    """(lemma, offset of a synset) -> which sense of the lemma it is, from 1."""
    numbers = {}
    for lemma, _, senses, kinds, *rest in entries(index):
        offsets = rest[int(kinds) + 2 :]
        for place, offset in enumerate(offsets[: int(senses)]):
            numbers[lemma, offset] = place + 1
    return numbers


def synsets(folder: Path) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Names ``lemma.n.01`` of all nouns by offset, and what stands directly above each."""
    sense = sense_numbers(folder / "index.noun")
    names, above = {}, {}
    for offset, _, _, words, *rest in entries(folder / "data.noun"):
        lemma = rest[0].lower()
        names[offset] = f"{lemma}.n.{sense[lemma, offset]:02d}"
        pointers = rest[2 * int(words, 16) :]
        fields = [pointers[1 + i : 5 + i] for i in range(0, 4 * int(pointers[0]), 4)]
        above[offset] = [to for sign, to, part, _ in fields if sign in ABOVE and part == "n"]
    return names, above


def everything_above(start: str, above: Mapping[str, list[str]]) -> set[str]:
    """Transitive closure of `above` from one synset, without itself."""
    seen: set[str] = set()
    waiting = list(above[start])
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting += above[one]
    return seen


def pairs(folder: Path) -> list[tuple[str, str]]:
    """(lower, upper) pairs with both ends at or below `ROOT`, in alphabetical order."""
    names, above = synsets(folder)
    root = next(offset for offset, name in names.items() if name == ROOT)
    found = {offset: everything_above(offset, above) for offset in names}
    inside = {offset for offset, uppers in found.items() if root in uppers} | {root}
    return sorted(
        (names[lower], names[upper])
        for lower in inside
        if names[lower] not in LEFT_OUT
        for upper in found[lower] & inside
    )


def main(source: Path, target: Path) -> None:
    """Write the pairs of the WordNet files in `source` to `target`."""
    lines = "".join(f"{lower},{upper}\n" for lower, upper in pairs(source))
    target.write_text(lines, encoding="ascii")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(__file__).parent / "closure.csv")
