import math
from pathlib import Path

import numpy as np
import pytest

from driftfold.arrays import Array
from driftfold.data import MiniLm
from driftfold.data.texts import mini_lm
from driftfold.data.texts.transformer import encoded, gelu, layers_of
from driftfold.data.texts.word_pieces import parse_word_pieces, words_of
from driftfold.errors import DataError
from tests.data.texts.test_encoders import safetensors
from tests.data.tiny import tiny_set

WIDTH, INNER, HEADS, LAYERS = 8, 12, 2, 2
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "drift", "##ing", "##s", "d", "cafe", "!", "中"]
RNG = np.random.default_rng(2)


def drawn(*shape: int) -> Array:
    return RNG.normal(0, 0.5, shape).astype(np.float32)


def layer(number: int) -> dict[str, Array]:
    sizes = {
        "attention.self.query": (WIDTH, WIDTH),
        "attention.self.key": (WIDTH, WIDTH),
        "attention.self.value": (WIDTH, WIDTH),
        "attention.output.dense": (WIDTH, WIDTH),
        "attention.output.LayerNorm": (WIDTH,),
        "intermediate.dense": (INNER, WIDTH),
        "output.dense": (WIDTH, INNER),
        "output.LayerNorm": (WIDTH,),
    }
    made = {}
    for name, shape in sizes.items():
        made[f"encoder.layer.{number}.{name}.weight"] = drawn(*shape)
        made[f"encoder.layer.{number}.{name}.bias"] = drawn(shape[0])
    return made


WEIGHTS = {
    "embeddings.position_ids": np.arange(20)[None],
    "embeddings.word_embeddings.weight": drawn(len(VOCABULARY), WIDTH),
    "embeddings.position_embeddings.weight": drawn(20, WIDTH),
    "embeddings.token_type_embeddings.weight": drawn(2, WIDTH),
    "embeddings.LayerNorm.weight": drawn(WIDTH),
    "embeddings.LayerNorm.bias": drawn(WIDTH),
    **layer(0),
    **layer(1),
}


def torch_states(pieces: list[int]) -> Array:
    """The same by torch's own layers."""
    import torch

    def tensor(name: str) -> torch.Tensor:
        return torch.from_numpy(WEIGHTS[name])

    table = "embeddings."
    x = tensor(table + "word_embeddings.weight")[pieces]
    x = x + tensor(table + "position_embeddings.weight")[: len(pieces)]
    x = x + tensor(table + "token_type_embeddings.weight")[0]
    norm = tensor(table + "LayerNorm.weight"), tensor(table + "LayerNorm.bias")
    x = torch.nn.functional.layer_norm(x, (WIDTH,), *norm, eps=1e-12)[None]
    for number in range(LAYERS):
        name = f"encoder.layer.{number}."
        own = torch.nn.TransformerEncoderLayer(
            WIDTH, HEADS, INNER, 0.0, "gelu", layer_norm_eps=1e-12, batch_first=True
        ).eval()
        parts = [f"{name}attention.self.{part}" for part in ("query", "key", "value")]
        state = {
            "self_attn.in_proj_weight": torch.cat([tensor(f"{part}.weight") for part in parts]),
            "self_attn.in_proj_bias": torch.cat([tensor(f"{part}.bias") for part in parts]),
        }
        for theirs, ours in (
            ("self_attn.out_proj", "attention.output.dense"),
            ("norm1", "attention.output.LayerNorm"),
            ("linear1", "intermediate.dense"),
            ("linear2", "output.dense"),
            ("norm2", "output.LayerNorm"),
        ):
            state[f"{theirs}.weight"] = tensor(f"{name}{ours}.weight")
            state[f"{theirs}.bias"] = tensor(f"{name}{ours}.bias")
        own.load_state_dict(state)
        with torch.no_grad():
            x = own(x)
    states: Array = x[0].numpy()
    return states


def test_layers_are_those_of_torch() -> None:
    pieces = [2, 4, 5, 9, 3]
    assert layers_of(WEIGHTS) == LAYERS
    ours = encoded(WEIGHTS, pieces, HEADS)
    assert ours.dtype == np.float32
    # Single precision through two layers of numbers near 1.
    assert np.abs(ours - torch_states(pieces)).max() < 2e-5


def test_gelu_is_x_times_the_normal_share_below_it() -> None:
    x = np.linspace(-9, 9, 2001)
    exact = np.array([value * (1 + math.erf(value / math.sqrt(2))) / 2 for value in x])
    # 7.1.26 is right to 1.5e-7, which |x| / 2 multiplies.
    assert (np.abs(gelu(x) - exact) <= 0.8e-7 * np.abs(x)).all()
    assert gelu(np.ones(1, np.float32)).dtype == np.float32


def test_a_text_is_the_mean_of_its_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = "\n".join([*VOCABULARY, ""]).encode()
    contents = {"model.safetensors": safetensors(**WEIGHTS), "vocab.txt": vocabulary}
    tiny_set(monkeypatch, tmp_path, "minilm", contents)
    monkeypatch.setattr(mini_lm, "_HEADS", HEADS)
    vectors = MiniLm().encode(["Drifting!", "", "cafe"], tmp_path)
    mean = torch_states([2, 4, 5, 9, 3]).mean(axis=0)
    assert np.abs(vectors[0] - mean / np.linalg.norm(mean)).max() < 1e-5
    assert not vectors[1].any()
    assert np.array_equal(MiniLm().encode(["cafe"], tmp_path)[0], vectors[2])
    short = MiniLm(pieces=4).encode(["drifting! cafe"], tmp_path)
    assert np.array_equal(short, MiniLm().encode(["drifting"], tmp_path))
    assert len({MiniLm().identity(), MiniLm(pieces=4).identity()}) == 2


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("drifting", ["drift", "##ing"]),
        ("DRIFTS\tCafé!", ["drift", "##s", "cafe", "!"]),
        ("ds dx", ["d", "##s", "[UNK]"]),
        ("x中x", ["[UNK]", "中", "[UNK]"]),
        ("a" * 101 + " d" + "s" * 100, ["[UNK]", "[UNK]"]),
        ("d" + "s" * 99, ["d"] + ["##s"] * 99),
        ("d\u200b\x07s\u00a0!", ["d", "##s", "!"]),
        ("", []),
    ],
)
def test_words_are_cut_from_the_front(text: str, pieces: list[str]) -> None:
    cut = parse_word_pieces("\n".join(VOCABULARY).encode(), "here").cut(text, 512)
    assert [VOCABULARY[number] for number in cut] == ["[CLS]", *pieces, "[SEP]"]


def test_signs_stand_alone() -> None:
    assert list(words_of("a_b $5.-\u2014ok\u2019s Å\u00df")) == [
        *("a", "_", "b", "$", "5", ".", "-", "\u2014", "ok", "\u2019", "s", "a\u00df"),
    ]


def test_a_vocabulary_without_the_marks_is_refused() -> None:
    with pytest.raises(DataError, match=r"here is no vocabulary: it lacks \[CLS\]"):
        parse_word_pieces(b"[UNK]\na\n", "here")
