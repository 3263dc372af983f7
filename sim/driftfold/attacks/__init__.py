"""Attacks: what adversarial clients send."""

from driftfold.attacks.base import Attack
from driftfold.attacks.gaussian import Gaussian
from driftfold.attacks.scaling import Scaling
from driftfold.attacks.sign_flip import SignFlip

__all__ = ["Attack", "Gaussian", "Scaling", "SignFlip"]
