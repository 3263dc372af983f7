"""Many small files as one: a line of JSON each, its name and its content."""

import json
from collections.abc import Mapping

from driftfold.errors import DataError


def gathered(contents: Mapping[str, bytes]) -> bytes:
    r"""Return files as lines in the order of their paths; equal contents give equal bytes.

    A name is the last folder and the file; bytes stand as the characters of the same number.

    >>> gathered({"pack/b/2.txt": b"\xe9", "pack/a/1.txt": b"one"})
    b'["a/1.txt", "one"]\n["b/2.txt", "\\u00e9"]\n'
    """
    lines = [
        json.dumps(["/".join(path.split("/")[-2:]), content.decode("latin-1")])
        for path, content in sorted(contents.items())
    ]
    return "".join(f"{line}\n" for line in lines).encode("ascii")


def scattered(content: bytes, where: object) -> dict[str, bytes]:
    r"""Return the content of each file by its name, as `gathered` was given them.

    >>> scattered(gathered({"a/1.txt": b"one\xe9\n"}), "here")
    {'a/1.txt': b'one\xe9\n'}
    >>> scattered(b"[1]", "here")
    Traceback (most recent call last):
    driftfold.errors.DataError: here has a line 1 that is no name and text; obtain it again
    """
    files: dict[str, bytes] = {}
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            name, text = json.loads(line)
            files[str(name)] = text.encode("latin-1")
        except (ValueError, TypeError, AttributeError):
            raise DataError(
                f"{where} has a line {number} that is no name and text; obtain it again"
            ) from None
    return files
