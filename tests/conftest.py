"""What holds for all tests."""

import os

# Asked for before any test uses torch, as driftfold does in a process of its own.
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")

try:
    from hypothesis import settings
except ImportError:  # the tests of the kernel do without
    pass
else:
    # No example fails because the machine was busy.
    settings.register_profile("driftfold", deadline=None)
    settings.load_profile("driftfold")
