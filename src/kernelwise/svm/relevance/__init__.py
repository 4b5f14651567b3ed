"""RelevanceSVC and RelevanceSVR: one prior, learned by its evidence; two losses; every size."""

from .classifier import RelevanceSVC
from .regressor import RelevanceSVR

__all__ = ["RelevanceSVC", "RelevanceSVR"]
