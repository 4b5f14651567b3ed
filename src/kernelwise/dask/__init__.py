"""RelevanceSVC and RelevanceSVR for Dask collections; needs the extra ``kernelwise[dask]``."""

from __future__ import annotations

from .estimators import DaskRelevanceSVC, DaskRelevanceSVR

__all__ = ["DaskRelevanceSVC", "DaskRelevanceSVR"]
