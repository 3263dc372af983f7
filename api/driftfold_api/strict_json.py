"""JSON from strangers, strictly: what the standard says and nothing more.

Python's reader takes NaN, repeated keys and half a surrogate pair. Each would mean something else
to the next program that reads the text.
"""

import json
from email.message import Message
from typing import Any

from starlette.requests import Request

from driftfold_api.problem import MALFORMED, MEDIA, TOO_LARGE, Problem

LIMIT = 4 * 2**20  # bytes: probabilities of 100,000 clients, written out, are 2 MB


async def read_json(request: Request, limit: int = LIMIT) -> Any:
    """Return the value in a request's body, or raise the `Problem` with it."""
    _require_json(request.headers.get("content-type", ""))
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            # The rest is not read: without a close, its sender could go on for ever.
            headers = {"Connection": "close"}
            raise Problem(TOO_LARGE, f"got more than {limit} bytes, wanted fewer", headers=headers)
    return parse(bytes(body))


def parse(body: bytes) -> Any:
    """Return the value of a JSON text.

    >>> parse(b'{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    >>> parse(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
    driftfold_api.problem.Problem: ...the key 'a' is given twice...
    """
    try:
        value = json.loads(
            body.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant
        )
        if b"\\u" in body:  # only an escape can smuggle half a character in
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        raise Problem(MALFORMED, f"not UTF-8: {error.reason} at byte {error.start}") from None
    except UnicodeEncodeError:
        raise Problem(MALFORMED, "a \\u escape is half of a surrogate pair") from None
    except RecursionError:
        raise Problem(MALFORMED, "nested too deeply") from None
    except ValueError as error:
        raise Problem(MALFORMED, f"not valid JSON: {error}") from None
    return value


def _require_json(given: str) -> None:
    header = Message()
    header["content-type"] = given or "nothing/given"
    kind = header.get_content_type()
    if kind != "application/json" and not (kind[:12] == "application/" and kind[-5:] == "+json"):
        got = f"got Content-Type: {given}" if given else "got no Content-Type"
        raise Problem(
            MEDIA, f"{got}, wanted application/json", headers={"Accept": "application/json"}
        )
    charset = header.get_content_charset("utf-8")
    if charset not in ("utf-8", "us-ascii"):
        raise Problem(MEDIA, f"got the charset {charset}, wanted utf-8: JSON has no other")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise ValueError(f"the key {key!r} is given twice")
        table[key] = value
    return table


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")
