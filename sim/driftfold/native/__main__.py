"""Build the kernels of this installation for this machine: ``python -m driftfold.native``.

With ``--if-missing``, as ``make install`` runs it, nothing is done or said where they are there
already, and that they cannot be built is told in one line and is no failure.
"""

import os
import sys
from collections.abc import Sequence

from driftfold.native.building import LIBRARY, BuildError, build, levels_here, up_to_date
from driftfold.native.loading import SWITCH, Library, Missing, open_library

_USAGE = "usage: python -m driftfold.native [--if-missing]"


def main(arguments: Sequence[str]) -> None:
    """Build, and print what was built; exit with 1 and the reason where it cannot be."""
    if arguments not in ([], ["--if-missing"]):
        sys.exit(_USAGE)
    if_missing = bool(arguments)
    # A stale one is left alone: a process that has opened it would be told of it again afterwards.
    if if_missing and up_to_date() and isinstance(open_library(LIBRARY), Library):
        return
    if if_missing and os.environ.get(SWITCH, "").strip() not in ("", "1"):
        found = open_library(LIBRARY)
        why = found.reason if isinstance(found, Missing) else ""
        print(f"driftfold: no kernels: {why}; only speed depends on them")
        return
    try:
        build(only=levels_here())
    except BuildError as error:
        if not if_missing:
            sys.exit(f"driftfold: {error}")
        print(
            f"driftfold: the kernels were not compiled: {error}; only speed depends on them. "
            "With a C compiler at hand, `make install` compiles them later."
        )
        return
    made = open_library(LIBRARY)
    state = f"not used: {made.reason}" if isinstance(made, Missing) else f"variant {made.level}"
    print(f"built {LIBRARY} ({state})")


if __name__ == "__main__":
    main(sys.argv[1:])
