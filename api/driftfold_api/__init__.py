"""driftfold_api: the ways in from outside, which are the `driftfold` command and what it shows."""

from driftfold import __version__

__all__ = ["__version__"]
