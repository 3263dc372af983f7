"""What holds for all tests."""

try:
    from hypothesis import settings
except ImportError:  # the tests of the kernel do without
    pass
else:
    # No example fails because the machine was busy.
    settings.register_profile("driftfold", deadline=None)
    settings.load_profile("driftfold")
