"""One online step of Fed-ADE on entropy for nets of two hidden layers, as a bare batched program.

It does what the step asks for, and nothing else: no events, no records, no memories in trees, no
draws. Inputs are there. Written for this net alone, in NumPy, in the type of its arrays.
"""

from typing import Any

import numpy as np

TINY, SMALL = 1e-10, 1e-12


class BareFedADE:
    """Clients' heads, the shared body, and the last means that signals are taken against.

    Attributes
    ----------
    body
        Weights (inputs, outputs) and biases of the hidden layers.
    head
        Weights (C, d, K) and biases (C, K) of the clients' heads.
    """

    def __init__(self, body: Any, head: Any, clients: int, low: float, high: float) -> None:
        self.body = [np.array(part) for part in body]
        self.head = [np.repeat(part[None], clients, axis=0) for part in head]
        self.low, self.high = low, high
        self.last: Any = None

    def step(self, x: Any, labels: Any) -> tuple[Any, Any, Any]:
        """Batches (C, n, inputs) of a step; rates, and hits before and after, (C,)."""
        one, a, two, b = self.body
        first = np.maximum(x @ one + a, 0)
        second = np.maximum(first @ two + b, 0)
        head = self.head
        p = _softmax(second @ head[0] + head[1][:, None])
        before = (p.argmax(-1) == labels).sum(-1)
        rate = self._rate(p, second)
        eta, flat = rate[:, None, None], rate[:, None]
        own = [np.repeat(part[None], len(x), axis=0) for part in (one, a, two, b)]
        for turn in range(2):
            if turn:
                first = np.maximum(x @ own[0] + own[1][:, None], 0)
                second = np.maximum(first @ own[2] + own[3][:, None], 0)
                p = _softmax(second @ head[0] + head[1][:, None])
            top = _slope(p)
            mid = (top @ head[0].swapaxes(1, 2)) * (second > 0)
            low = (mid @ own[2].swapaxes(1, 2)) * (first > 0)
            head = [head[0] - eta * (second.swapaxes(1, 2) @ top), head[1] - flat * top.sum(1)]
            own[2] -= eta * (first.swapaxes(1, 2) @ mid)
            own[3] -= flat * mid.sum(1)
            own[0] -= eta * (x.swapaxes(1, 2) @ low)
            own[1] -= flat * low.sum(1)
        self.body = [part.mean(0) for part in own]
        one, a, two, b = self.body
        second = np.maximum(np.maximum(x @ one + a, 0) @ two + b, 0)
        for _ in range(2):
            top = _slope(_softmax(second @ head[0] + head[1][:, None]))
            head = [head[0] - eta * (second.swapaxes(1, 2) @ top), head[1] - flat * top.sum(1)]
        self.head = head
        after = ((second @ head[0] + head[1][:, None]).argmax(-1) == labels).sum(-1)
        return rate, before, after

    def _rate(self, p: Any, features: Any) -> Any:
        q = p.mean(1)
        lengths = np.sqrt((features * features).sum(-1, keepdims=True))
        z = (features / np.maximum(lengths, SMALL)).mean(1)
        if self.last is None:
            share = np.zeros(len(q))
        else:
            share = ((1 - _cosine(self.last[0], q)) + (1 - _cosine(self.last[1], z)) / 2) / 2
        self.last = q, z
        return (self.low + (self.high - self.low) * share).astype(p.dtype)


def _cosine(a: Any, b: Any) -> Any:
    lengths = np.sqrt((a * a).sum(-1)) * np.sqrt((b * b).sum(-1))
    return np.clip((a * b).sum(-1) / np.maximum(lengths, SMALL), 0, 1)


def _softmax(logits: Any) -> Any:
    p = np.exp(logits - logits.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True)


def _slope(p: Any) -> Any:
    """Of the mean entropy, in the logits."""
    above = p + p.dtype.type(TINY)
    g = -np.log(above) - p / above
    return p * (g - (p * g).sum(-1, keepdims=True)) / p.dtype.type(p.shape[1])
