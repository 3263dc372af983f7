"""What is said of what cannot be the id of a job."""

from uuid import UUID

EXAMPLE = UUID(int=0x0190_0000_0000_7000_8000_0000_0000_0000)


def no_such_job(text: str) -> str:
    """Return the sentence about a text that is no job's id."""
    return f"no job has the id {text[:50]!r}; ids look like {EXAMPLE}"
