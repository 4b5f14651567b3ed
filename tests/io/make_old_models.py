"""Make the models of an older tree: ``python -m tests.io.make_old_models FOLDER``.

Those in ``tests/io/old_models`` come from commit 288e5fa, and `test_old_model_files` loads them.
They are never made anew by a newer tree: that would prove nothing.
"""

import argparse
import io
import pickle
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelwise import SVC, MarginRadiusSVC, save
from kernelwise.tabular import TableEncoder

from .models import CLASSIFIERS, KERNELS, TRANSFORMERS, frame, table, with_nan

EVERY = 3  # one of so many rows, to keep the files small


def rows_of(name):
    """Return the rows that the model of a name is fitted to."""
    if name.startswith("composed-table"):
        return frame()[::EVERY]
    X = table()[0][::EVERY]
    if "impute" in name:
        return with_nan(X)
    return np.abs(X) if name.startswith("transformer-") else X


def output(model, name):
    """Return what a model makes of its rows: decision values, or columns."""
    rows = rows_of(name)
    for method in ("decision_function", "predict_proba", "transform"):
        if hasattr(model, method):
            return np.asarray(getattr(model, method)(rows))
    raise TypeError(f"{name} decides and transforms nothing.")


def models():
    """Yield every kind of estimator by its name, fitted."""
    unfitted = {f"classifier-{name}": model for name, model in CLASSIFIERS.items()}
    unfitted |= {f"kernel-{name}": SVC(kernel=kernel) for name, kernel in KERNELS.items()}
    unfitted |= {f"transformer-{name}": model for name, model in TRANSFORMERS.items()}
    unfitted["composed-pipeline"] = make_pipeline(StandardScaler(), MarginRadiusSVC())
    unfitted["composed-calibrated"] = CalibratedClassifierCV(SVC(), cv=2)
    unfitted["composed-table"] = make_pipeline(TableEncoder(), SVC())
    y = table()[1][::EVERY]
    for name, model in unfitted.items():
        yield name, clone(model).fit(rows_of(name), y)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    files, pickles, outputs = {}, {}, {}
    with TemporaryDirectory() as scratch:
        for name, model in models():
            files[f"{name}.kw"] = save(model, Path(scratch) / "model.kw").read_bytes()
            pickles[f"{name}.pickle"] = pickle.dumps(model, protocol=5)
            outputs[name] = output(model, name)
    for archive, members in (("model_files.zip", files), ("pickles.zip", pickles)):
        with zipfile.ZipFile(folder / archive, "w", zipfile.ZIP_LZMA) as packed:
            for name, content in members.items():
                packed.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_LZMA)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **outputs)
    (folder / "outputs.npz").write_bytes(buffer.getvalue())


if __name__ == "__main__":
    main()
