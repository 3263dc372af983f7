"""The encoder of BERT, for one text at a time.

Vaswani et al., "Attention is all you need" (2017); Devlin et al., "BERT" (2019). Weights are named
as the published models name them. One text at a time needs no padding, and its vector depends on
no other text.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from driftfold.arrays import Array

_SMALL = 1e-12  # added to variances
_ERF = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)


def encoded(weights: Mapping[str, Array], pieces: Sequence[int], heads: int) -> Array:
    """Return the hidden states of the last layer, shape (t, d), of t numbers of pieces.

    The weights are float32, the matrices (out, in); there are as many layers as they name.
    """
    tables = "embeddings."
    x = (
        weights[tables + "word_embeddings.weight"][np.asarray(pieces)]
        + weights[tables + "position_embeddings.weight"][: len(pieces)]
        + weights[tables + "token_type_embeddings.weight"][0]
    )
    x = _normed(weights, tables + "LayerNorm", x)
    for layer in range(layers_of(weights)):
        name = f"encoder.layer.{layer}."
        x = _normed(
            weights, name + "attention.output.LayerNorm", x + _attended(weights, name, x, heads)
        )
        inner = gelu(_linear(weights, name + "intermediate.dense", x))
        x = _normed(
            weights, name + "output.LayerNorm", x + _linear(weights, name + "output.dense", inner)
        )
    return x


def layers_of(weights: Mapping[str, Array]) -> int:
    """Return how many layers the weights name."""
    numbers = [name.split(".")[2] for name in weights if name.startswith("encoder.layer.")]
    return 1 + max(map(int, numbers), default=-1)


def gelu(x: Array) -> Array:
    """Return x times the normal distribution's share below x, to 2e-7 |x| (Hendrycks, Gimpel 2016).

    The error function is Abramowitz and Stegun's 7.1.26.

    >>> gelu(np.array([-1.0, 0.0, 2.0])).round(6).tolist()
    [-0.158655, 0.0, 1.9545]
    """
    size = np.abs(x) / np.sqrt(2).astype(x.dtype)
    t = 1 / (1 + size * x.dtype.type(0.3275911))
    series = np.zeros_like(t)
    for factor in reversed(_ERF):
        series = (series + x.dtype.type(factor)) * t
    below: Array = 1 - series * np.exp(-size * size)
    return x * (1 + np.copysign(below, x)) / 2


def _linear(weights: Mapping[str, Array], name: str, x: Array) -> Array:
    made: Array = x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    return made


def _normed(weights: Mapping[str, Array], name: str, x: Array) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    made: Array = centred / np.sqrt(variance + _SMALL) * weights[f"{name}.weight"]
    return made + weights[f"{name}.bias"]


def _attended(weights: Mapping[str, Array], name: str, x: Array, heads: int) -> Array:
    length, width = x.shape

    def parted(part: str) -> Array:
        made = _linear(weights, f"{name}attention.self.{part}", x)
        return made.reshape(length, heads, -1).transpose(1, 0, 2)

    query, key, value = parted("query"), parted("key"), parted("value")
    scores = query @ key.transpose(0, 2, 1) / np.sqrt(width // heads).astype(x.dtype)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    mixed = (shares @ value).transpose(1, 0, 2).reshape(length, width)
    return _linear(weights, f"{name}attention.output.dense", mixed)
