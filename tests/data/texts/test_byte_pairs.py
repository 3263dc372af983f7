import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftfold.data.texts.byte_pairs import BytePairs, parse_byte_pairs
from driftfold.errors import DataError

MERGES = ["a b", "▁ a", "▁ ab", "b a", "ab ab", "▁ ▁", "b b", "bb a", "▁▁ ab", "a bb"]
LETTERS = ["<unk>", "▁", "a", "b"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def description(**changes: Any) -> bytes:
    pieces = [*LETTERS, *BYTES, *(merge.replace(" ", "") for merge in MERGES)]
    model = {
        "type": "BPE",
        "byte_fallback": True,
        "unk_token": "<unk>",
        "vocab": {piece: number for number, piece in enumerate(pieces)},
        "merges": MERGES,
    }
    return json.dumps({"version": "1.0", "model": {**model, **changes}}).encode()


PAIRS = parse_byte_pairs(description(), "here")
NAMES = {number: piece for piece, number in PAIRS.numbers.items()}


def one_by_one(text: str) -> list[str]:
    """The definition: of all neighbours in the whole text merge the first of least rank."""
    rank = {tuple(merge.split(" ")): place for place, merge in enumerate(MERGES)}
    known = set(LETTERS)
    pieces = [
        piece
        for letter in "▁" + text.replace(" ", "▁")
        for piece in ([letter] if letter in known else [BYTES[b] for b in letter.encode()])
    ]
    while True:
        able = [(rank[pair], place) for place, pair in enumerate(pairwise(pieces)) if pair in rank]
        if not able:
            return pieces
        _, place = min(able)
        pieces[place : place + 2] = [pieces[place] + pieces[place + 1]]


@settings(deadline=None, max_examples=100)
@given(st.text("ab é", min_size=1, max_size=30))
def test_texts_are_cut_as_the_definition_says(text: str) -> None:
    assert [NAMES[number] for number in PAIRS.cut(text)] == one_by_one(text)
    # Words are remembered, and the pieces of a long text are its first ones.
    assert PAIRS.cut(text) == PAIRS.cut(text)
    assert PAIRS.cut(text, most=3) == PAIRS.cut(text)[:3]


def test_nothing_is_no_piece_and_other_letters_are_bytes() -> None:
    assert PAIRS.cut("") == []
    assert [NAMES[n] for n in PAIRS.cut("é")] == ["▁", "<0xC3>", "<0xA9>"]
    bare = BytePairs({"▁": 0, "a": 1, "<unk>": 2}, {}, unknown=2)
    assert bare.cut("aé") == [0, 1, 2, 2]


def test_a_long_word_takes_no_square_of_its_length() -> None:
    assert len(PAIRS.cut("ab" * 5_000)) == 2_501  # hundredths of a second, or minutes


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "describes no byte pairs"),
        (b"{}", "describes no byte pairs"),
        (b"[1]", "describes no byte pairs"),
        (description(merges=["a c"]), "describes no byte pairs"),
        (description(vocab=3), "describes no byte pairs"),
        (description(type="WordPiece"), "describes another way"),
        (description(byte_fallback=False), "describes another way"),
        (
            description(vocab={**PAIRS.numbers, "a▁b": 999}),
            "describes another way",
        ),
    ],
)
def test_other_tokenizers_are_refused(content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=f"here {message}"):
        parse_byte_pairs(content, "here")


def test_merges_may_be_lists() -> None:
    listed = parse_byte_pairs(description(merges=[m.split(" ") for m in MERGES]), "here")
    assert listed == PAIRS
