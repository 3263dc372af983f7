"""What a failed conformance check raises."""


def expect(holds: object, message: str) -> None:
    """Raise `AssertionError` with `message` unless `holds` is true (also under ``python -O``).

    >>> expect(1 + 1 == 2, "arithmetic")
    >>> expect(False, "got -1 for client 3; delays are at least 0")
    Traceback (most recent call last):
    AssertionError: got -1 for client 3; delays are at least 0
    """
    if not holds:
        raise AssertionError(message)
