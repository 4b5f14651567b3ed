"""RelevanceSVC for tables on a cluster of Dask; needs the extra ``kernelwise[dask]``."""

from __future__ import annotations

from .estimator import DaskRelevanceSVC

__all__ = ["DaskRelevanceSVC"]
