"""What can be the id of a job."""

from uuid import UUID

EXAMPLE = UUID(int=0x0190_0000_0000_7000_8000_0000_0000_0000)


def is_job_id(text: str) -> bool:
    """Return whether a text has the form of a job's id.

    >>> is_job_id("01900000-0000-7000-8000-000000000000"), is_job_id("../../x"), is_job_id("")
    (True, False, False)
    """
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def no_such_job(text: str) -> str:
    """Return the sentence about a text that is no job's id."""
    return f"no job has the id {text[:50]!r}; ids look like {EXAMPLE}"
