"""Model files and pickles that an older tree has written load, and decide as they did."""

import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.utils.fixes import parse_version

from kernelwise import load

from .make_old_models import output

FOLDER = Path(__file__).parent / "old_models"
WRITTEN_WITH = "1.9.1"  # the version of scikit-learn

pytestmark = [
    pytest.mark.skipif(
        parse_version(sklearn.__version__) < parse_version(WRITTEN_WITH),
        reason=f"scikit-learn loads no models of a newer version, here {WRITTEN_WITH}",
    ),
    # A newer scikit-learn says that its own parts come from an older one.
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning"),
]


def names_in(archive):
    with zipfile.ZipFile(FOLDER / archive) as packed:
        return [Path(name).stem for name in packed.namelist()]


def content_of(archive, name):
    with zipfile.ZipFile(FOLDER / archive) as packed:
        return packed.read(name)


def assert_decides_as_before(model, name):
    with np.load(FOLDER / "outputs.npz") as outputs:
        expected = outputs[name]
    found = output(model, name)
    assert found.shape == expected.shape
    assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("name", names_in("model_files.zip"))
def test_a_model_file_loads(name, tmp_path):
    path = tmp_path / "model.kw"
    path.write_bytes(content_of("model_files.zip", f"{name}.kw"))
    assert_decides_as_before(load(path), name)


@pytest.mark.parametrize("name", names_in("pickles.zip"))
def test_a_pickle_loads(name):
    assert_decides_as_before(pickle.loads(content_of("pickles.zip", f"{name}.pickle")), name)


@pytest.mark.parametrize("archive", ["model_files.zip", "pickles.zip"])
def test_every_output_has_a_model(archive):
    with np.load(FOLDER / "outputs.npz") as outputs:
        assert sorted(names_in(archive)) == sorted(outputs.files)
