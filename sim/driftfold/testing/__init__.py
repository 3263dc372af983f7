"""Conformance checks that any plug-in can run; they need no test framework."""
