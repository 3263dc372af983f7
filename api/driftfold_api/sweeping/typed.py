"""Fields of a sweep and their values, as they are typed."""

import re
import tomllib
from collections.abc import Iterable
from typing import Any

from driftfold.spec.overrides import parse_overrides
from driftfold_api.errors import RequestError

_NUMBER = r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"\s*({_NUMBER})\s*\.\.\s*({_NUMBER})\s*(,\s*log)?\s*")


def parse_grid(settings: Iterable[str]) -> dict[str, list[Any]]:
    """Return values by paths of fields.

    >>> parse_grid(["algorithm.steps=1,5", "optimizer=sgd,{kind='momentum', beta=0.9}"])
    {'algorithm.steps': [1, 5], 'optimizer': ['sgd', {'kind': 'momentum', 'beta': 0.9}]}
    """
    return {
        path: _values(text)
        for path, text in _split("--grid", settings, "FIELD=VALUE,VALUE,...").items()
    }


def parse_random(settings: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return ranges and choices by paths of fields.

    >>> parse_random(["algorithm.step_size=1e-3..1,log", "algorithm.steps=1..20"])
    {'algorithm.step_size': {'low': 0.001, 'high': 1, 'log': True}, \
'algorithm.steps': {'low': 1, 'high': 20}}
    >>> parse_random(["optimizer=sgd,adam"])
    {'optimizer': {'choice': ['sgd', 'adam']}}
    """
    wanted = "FIELD=LOW..HIGH, FIELD=LOW..HIGH,log or FIELD=VALUE,VALUE,..."
    return {path: _draw(text) for path, text in _split("--random", settings, wanted).items()}


def _split(option: str, settings: Iterable[str], wanted: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for setting in settings:
        path, equals, text = setting.partition("=")
        if not equals or not path or not text:
            raise RequestError(f"{option}: got {setting!r}, wanted {wanted}")
        if path in found:
            raise RequestError(
                f"{option}: got {path} twice, {found[path]} and {text}; give all of its values once"
            )
        found[path] = text
    return found


def _draw(text: str) -> dict[str, Any]:
    ends = _RANGE.fullmatch(text)
    if ends is None:
        return {"choice": _values(text)}
    low, high, log = ends.groups()
    draw: dict[str, Any] = {"low": _number(low), "high": _number(high)}
    return {**draw, "log": True} if log else draw


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _values(text: str) -> list[Any]:
    try:
        values: list[Any] = tomllib.loads(f"x = [{text}]")["x"]
    except ValueError:  # words without quotation marks
        return [parse_overrides([f"x={part.strip()}"])["x"] for part in _parts(text)]
    return values


def _parts(text: str) -> list[str]:
    """Return what stands between the commas that are in no bracket."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "[{") - (sign in "]}")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts
