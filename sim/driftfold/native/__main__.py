"""Build the kernels of this checkout for this machine: ``python -m driftfold.native``."""

import sys

from driftfold.native.building import LIBRARY, BuildError, build, levels_here

if __name__ == "__main__":
    try:
        build(only=levels_here())
    except BuildError as error:
        sys.exit(f"driftfold: {error}")
    print(f"built {LIBRARY}")
