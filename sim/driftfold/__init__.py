"""driftfold: asynchronous, event-driven simulation of federated learning."""

__version__ = "0.1.0"
