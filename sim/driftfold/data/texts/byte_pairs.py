"""Cutting texts into pieces of words: byte-pair encoding as SentencePiece's vocabularies use it.

Sennrich, Haddow, Birch, "Neural machine translation of rare words with subword units" (ACL 2016).
Blanks become ``▁`` and one stands before the text. Starting from single characters, the two
neighbours whose merge ranks first become one piece, until no two are left that may merge. A
character that the vocabulary lacks is the pieces of its UTF-8 bytes.
"""

import heapq
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from driftfold.errors import DataError

_BLANK = "▁"
_WORD = re.compile(f"{_BLANK}+[^{_BLANK}]*")
_REMEMBERED = 1 << 18  # words


@dataclass(frozen=True)
class BytePairs:
    """A vocabulary, and which neighbours merge into what.

    Attributes
    ----------
    numbers
        Number of each piece.
    merges
        For two numbers of pieces that may merge: rank, and number of what they become.
    unknown
        Number of what cannot be written in pieces.

    Examples
    --------
    >>> numbers = {"▁": 0, "a": 1, "b": 2, "ab": 3, "▁ab": 4, "<unk>": 5}
    >>> pairs = BytePairs(numbers, {(1, 2): (0, 3), (0, 3): (1, 4)}, unknown=5)
    >>> pairs.cut("ab b")
    [4, 0, 2]
    """

    numbers: Mapping[str, int]
    merges: Mapping[tuple[int, int], tuple[int, int]]
    unknown: int
    _words: dict[str, list[int]] = field(default_factory=dict, compare=False, repr=False)

    def cut(self, text: str, most: int | None = None) -> list[int]:
        """Return the numbers of a text's pieces, the first `most` of them, or all."""
        if not text:
            return []
        pieces: list[int] = []
        # No piece has a blank behind another character, so that words are cut by themselves.
        for found in _WORD.finditer(_BLANK + text.replace(" ", _BLANK)):
            pieces += self._word(found.group())
            if most is not None and len(pieces) >= most:
                return pieces[:most]
        return pieces

    def _word(self, word: str) -> list[int]:
        known = self._words.get(word)
        if known is None:
            known = self._merged([number for letter in word for number in self._letter(letter)])
            if len(self._words) < _REMEMBERED:
                self._words[word] = known
        return known

    def _letter(self, letter: str) -> list[int]:
        if letter in self.numbers:
            return [self.numbers[letter]]
        return [self.numbers.get(f"<0x{byte:02X}>", self.unknown) for byte in letter.encode()]

    def _merged(self, pieces: list[int]) -> list[int]:
        end = len(pieces)
        after, before = list(range(1, end + 1)), list(range(-1, end - 1))
        alive = [True] * end
        waiting: list[tuple[int, int, int, int]] = []

        def offer(left: int) -> None:
            if left >= 0 and (right := after[left]) < end:
                merge = self.merges.get((pieces[left], pieces[right]))
                if merge is not None:
                    heapq.heappush(waiting, (merge[0], left, pieces[left], pieces[right]))

        for left in range(end):
            offer(left)
        while waiting:
            _, left, first, second = heapq.heappop(waiting)
            right = after[left]
            stale = not alive[left] or pieces[left] != first or right >= end
            if stale or pieces[right] != second:
                continue
            pieces[left] = self.merges[first, second][1]
            alive[right], after[left] = False, after[right]
            if after[left] < end:
                before[after[left]] = left
            offer(before[left])
            offer(left)
        return [piece for piece, living in zip(pieces, alive, strict=True) if living]


def parse_byte_pairs(content: bytes, where: object) -> BytePairs:
    """Read the description of a tokenizer in JSON, as the package ``tokenizers`` writes it.

    Raises `DataError` when it describes anything else than what this module does.
    """
    try:
        model = json.loads(content)["model"]
        numbers: dict[str, int] = dict(model["vocab"])
        pairs = [tuple(m.split(" ")) if isinstance(m, str) else tuple(m) for m in model["merges"]]
        merges = {
            (numbers[left], numbers[right]): (rank, numbers[left + right])
            for rank, (left, right) in enumerate(pairs)
        }
        kind, bytewise, unknown = model["type"], model["byte_fallback"], numbers[model["unk_token"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{where} describes no byte pairs ({error!r}); obtain it again") from None
    if kind != "BPE" or not bytewise or any(_BLANK in piece.lstrip(_BLANK) for piece in numbers):
        raise DataError(
            f"{where} describes another way of cutting texts; wanted byte pairs within words, "
            "with bytes for other characters"
        )
    return BytePairs(numbers, merges, unknown)
