"""Quality of RelevanceSVC against its peers, its cost, and the truth of its weights."""

from .accuracy import Choose
from .on_tables import ImbalancedChoose, MixedChoose, SmallChoose
from .page import PAGE as PAGE
from .today import VARIABLE as TODAY_VARIABLE

WITHOUT_PAGE = (Choose(), SmallChoose(), MixedChoose(), ImbalancedChoose())

__all__ = ["PAGE", "TODAY_VARIABLE", "WITHOUT_PAGE"]
