"""Text from bytes."""


def decoded(content: bytes, coding: str | None = None) -> str:
    r"""Decode by the coding that is told, else as UTF-8, else as Latin-1.

    >>> decoded(b"\xc2\xa3"), decoded(b"\xa3 1"), decoded(b"x", "no-such-coding")
    ('£', '£ 1', 'x')
    """
    for name in (coding or "utf-8", "utf-8"):
        try:
            return content.decode(name)
        except (LookupError, ValueError):  # an unknown coding, or another than is told
            continue
    return content.decode("latin-1")


def spaced(text: str) -> str:
    r"""Make one blank of each run of space, and none of those at the ends.

    >>> spaced(" a \n b")
    'a b'
    """
    return " ".join(text.split())
