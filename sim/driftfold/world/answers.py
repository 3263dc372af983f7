"""Answers of decisions, in the form in which they are logged."""

import json
from typing import Any

from driftfold.errors import RunError


def plain_answer(name: str, answer: Any) -> Any:
    """Return the answer as a replay will read it from the log: tuples become lists.

    Raises `RunError` when the log cannot hold it.

    >>> plain_answer("pause", (1, 2.5))
    [1, 2.5]
    """
    try:
        return json.loads(json.dumps(answer))
    except (TypeError, ValueError) as error:
        raise RunError(
            f"the decision {name!r} gave {answer!r}, which cannot be logged ({error}); return "
            "plain numbers, strings, lists or dicts of them"
        ) from None
