"""Classifiers as pure functions of flat parameter vectors, for one client or stacks of them."""

from driftfold.nets.base import Mode, Model, Net, Pass
from driftfold.nets.layout import Entry, Layout
from driftfold.nets.linear_head import LinearHead
from driftfold.nets.masks import Masks
from driftfold.nets.mini_resnet6 import MiniResNet6
from driftfold.nets.mlp import Mlp
from driftfold.nets.resnet18 import ResNet18

__all__ = [
    "Entry",
    "Layout",
    "LinearHead",
    "Masks",
    "MiniResNet6",
    "Mlp",
    "Mode",
    "Model",
    "Net",
    "Pass",
    "ResNet18",
]
