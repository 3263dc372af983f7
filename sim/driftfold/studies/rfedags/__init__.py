"""The RFedAGS paper: its experiments, its claims, and what they are beside its baselines."""

from driftfold.studies.rfedags.study import RFEDAGS

__all__ = ["RFEDAGS"]
