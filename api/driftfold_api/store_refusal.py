"""Why a job store that answers takes no writes: its disk is full, it has lost its replicas, ..."""

from driftfold_workers.store import StoreRefuses


def own_words(error: StoreRefuses) -> str:
    """Return what the store itself said, without its address and its code.

    >>> error = StoreRefuses("the job store at redis://queue refuses")
    >>> error.__cause__ = Exception("MISCONF Errors writing to the AOF file: No space. script: 8")
    >>> own_words(error)
    'Errors writing to the AOF file: No space'
    """
    said = str(error.__cause__ or error)
    code, _, rest = said.partition(" ")
    words, _, _ = (rest if code.isupper() else said).partition(" script: ")  # a place in our code
    return " ".join(words.split()).rstrip(".")
