"""When an adaptive rate beats a well-tuned fixed one, and what else Fed-ADE's paper claims."""

from driftfold.studies.fedade.study import FEDADE

__all__ = ["FEDADE"]
