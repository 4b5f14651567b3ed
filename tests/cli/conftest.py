"""A table on disk, a model of it, and a way to run commands inside this process."""

import pytest
from typer.testing import CliRunner

from kernelwise.app.cli.app import app

from ..tabular.tables import patients


@pytest.fixture
def run(monkeypatch):
    """Run a command; return its exit code, stdout and stderr."""
    monkeypatch.delenv("KERNELWISE_DEBUG", raising=False)

    def call(*args, **options):
        return CliRunner().invoke(app, [str(arg) for arg in args], **options)

    return call


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "patients.csv"
    patients(120).to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def model(table, tmp_path_factory):
    """A model with probabilities, by the command."""
    path = tmp_path_factory.mktemp("model") / "model.kw"
    command = ["fit", table, "--target", "outcome", "--out", path, "--proba", "--cv", 2]
    result = CliRunner().invoke(app, [str(arg) for arg in command])
    assert result.exit_code == 0, result.stderr
    return path
