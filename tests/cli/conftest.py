"""Tables on disk, models of them, and a way to run commands inside this process."""

import pytest
from typer.testing import CliRunner

from kernelwise.app.cli.app import app

from ..evaluation.tables import prices
from ..tabular.tables import patients


@pytest.fixture
def run(monkeypatch):
    """Run a command; return its exit code, stdout and stderr."""
    monkeypatch.delenv("KERNELWISE_DEBUG", raising=False)

    def call(*args, **options):
        return CliRunner().invoke(app, [str(arg) for arg in args], **options)

    return call


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="session")
def table(folder):
    path = folder / "patients.csv"
    patients(120).to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def price_table(folder):
    path = folder / "prices.csv"
    prices(120).to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def model(table, folder):
    """A classifier, by the command."""
    return fitted(table, "outcome", folder / "model.kw")


@pytest.fixture(scope="session")
def price_model(price_table, folder):
    """A regressor, by the command."""
    return fitted(price_table, "price", folder / "prices.kw")


def fitted(table, target, path):
    command = ["fit", table, "--target", target, "--out", path, "--cv", 2]
    result = CliRunner().invoke(app, [str(arg) for arg in command])
    assert result.exit_code == 0, result.stderr
    return path
