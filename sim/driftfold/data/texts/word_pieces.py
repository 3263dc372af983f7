"""Cutting texts into pieces of words: WordPiece, as BERT's uncased vocabulary uses it.

Devlin, Chang, Lee, Toutanova, "BERT: pre-training of deep bidirectional transformers" (NAACL 2019)
and its published code. Letters become small and lose their accents, signs and Chinese characters
stand alone, and of each word the longest piece that the vocabulary has is taken from the front;
pieces behind the first one begin with ``##``.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from driftfold.errors import DataError

_LONGEST = 100  # letters of a word; longer ones are unknown
_CHINESE = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


@dataclass(frozen=True)
class WordPieces:
    """A vocabulary.

    Attributes
    ----------
    numbers
        Number of each piece, with those of ``[UNK]``, ``[CLS]`` and ``[SEP]``.

    Examples
    --------
    >>> pieces = ["[UNK]", "[CLS]", "[SEP]", "drift", "##ing", "!"]
    >>> WordPieces({piece: n for n, piece in enumerate(pieces)}).cut("Drifting clients!", 256)
    [1, 3, 4, 0, 5, 2]
    """

    numbers: Mapping[str, int]

    def cut(self, text: str, most: int) -> list[int]:
        """Return the numbers of [CLS], the first of a text's pieces, and [SEP]: `most` in all."""
        pieces = [self.numbers["[CLS]"]]
        for word in words_of(text):
            pieces += self._word(word)
            if len(pieces) >= most - 1:
                break
        return [*pieces[: most - 1], self.numbers["[SEP]"]]

    def _word(self, word: str) -> list[int]:
        pieces: list[int] = []
        start = 0
        while start < len(word):
            front = "##" if start else ""
            for stop in range(len(word), start, -1) if len(word) <= _LONGEST else ():
                number = self.numbers.get(front + word[start:stop])
                if number is not None:
                    pieces.append(number)
                    start = stop
                    break
            else:
                return [self.numbers["[UNK]"]]
        return pieces


def words_of(text: str) -> Iterator[str]:
    """Words and signs of a text.

    >>> list(words_of("Café-au-lait 1.5"))
    ['cafe', '-', 'au', '-', 'lait', '1', '.', '5']
    """
    plain = "".join(_plain(letter) for letter in text)
    small = unicodedata.normalize("NFD", plain.lower())
    spread = "".join(
        f" {letter} " if _is_sign(letter) else letter
        for letter in small
        if unicodedata.category(letter) != "Mn"
    )
    yield from spread.split()


def parse_word_pieces(content: bytes, where: object) -> WordPieces:
    """Read a vocabulary, a piece a line; raises `DataError` when it lacks the marks of BERT."""
    pieces = content.decode("utf-8", "replace").rstrip("\n").split("\n")
    numbers = {piece: number for number, piece in enumerate(pieces)}
    lacking = [mark for mark in ("[UNK]", "[CLS]", "[SEP]") if mark not in numbers]
    if lacking:
        raise DataError(f"{where} is no vocabulary: it lacks {lacking[0]}; obtain it again")
    return WordPieces(numbers)


def _plain(letter: str) -> str:
    if letter in "\t\n\r" or unicodedata.category(letter) == "Zs":
        return " "
    if letter in "\0\ufffd" or unicodedata.category(letter).startswith("C"):
        return ""
    number = ord(letter)
    return f" {letter} " if any(a <= number <= b for a, b in _CHINESE) else letter


def _is_sign(letter: str) -> bool:
    if letter.isascii():
        return letter.isprintable() and not letter.isalnum() and letter != " "
    return unicodedata.category(letter).startswith("P")
