"""driftfold: asynchronous, event-driven simulation of federated learning.

>>> from driftfold.run import run
>>> from driftfold.spec import load_spec
>>> result = run(load_spec("pca-synthetic", overrides=["horizon.rounds=10"]))
>>> result.rounds, sorted(result.metrics)
(10, ['gap', 'loss'])

Names are imported from where they belong, so that one is never both a module and a function, and
`import driftfold` itself costs nothing:

===========================  ==============================================================
`driftfold.spec`             `load_spec`, `JobSpec`: an experiment as data
`driftfold.run`              `run`, `build`
`driftfold.result`           `Result`
`driftfold.FAMILY`           base classes and kinds of a family: `tasks`, `data`, `manifolds`,
                             `algorithms`, `participation`, `estimators`, `latency`, `drift`,
                             `compute`, `world` (cadences, selections, policies)
`driftfold.registry`         `register`, by which a kind gets its name
`driftfold.rng`              `Seed`: randomness by address
`driftfold.telemetry`        records of a run, and their sinks
`driftfold.checkpoint`       snapshots of a run, and their stores
`driftfold.errors`           every error that is raised on purpose
`driftfold.kernel`           asyncio in virtual time, for any simulation
`driftfold.testing`          conformance checks for one's own components
===========================  ==============================================================
"""

__version__ = "0.1.0"
