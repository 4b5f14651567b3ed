"""Quality of RelevanceSVC against its peers, its cost, and the truth of its weights."""

from .accuracy import Choose
from .on_tables import Imbalanced, ImbalancedChoose, Mixed, MixedChoose, Small, SmallChoose
from .page import PAGE as PAGE
from .probabilities import Coverage, PureNoise
from .today import VARIABLE as TODAY_VARIABLE

WITHOUT_PAGE = (
    Small(), Mixed(), Imbalanced(), PureNoise(), Coverage(),
    Choose(), SmallChoose(), MixedChoose(), ImbalancedChoose(),
)  # fmt: skip

__all__ = ["PAGE", "TODAY_VARIABLE", "WITHOUT_PAGE"]
