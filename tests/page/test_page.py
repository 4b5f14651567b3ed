"""Pages of models: what they hold, what they refuse, and the command that writes them."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from typer.testing import CliRunner

from kernelwise import SVC, RelevanceSVC, RelevanceSVR
from kernelwise.app.cli.app import app
from kernelwise.app.page import page as module
from kernelwise.app.page import write_model_page
from kernelwise.app.tabular import TableError

from ..tabular.tables import patients
from .models import fitted, typed_table


def held(path):
    """Return the data of a page, and its text for readers."""
    text = path.read_text(encoding="utf-8")
    data = re.search(r'<script type="application/json" id="model">(.*?)</script>', text)[1]
    said = re.search(r'<p id="contents-text">(.*?)</p>', text, re.DOTALL)[1]
    return json.loads(data), " ".join(said.split())


def two_columns(n=80):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 2)), columns=["size", "weight"])
    return X, np.where(X["size"] > 0, "large", "small")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="module")
def table(folder):
    path = folder / "patients.csv"
    patients(120).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def model(folder, table):
    run("fit", table, "--target", "outcome", "--out", folder / "model.kw", "--cv", 2)
    return folder / "model.kw"


def run(*command, code=0):
    result = CliRunner().invoke(app, [str(each) for each in command])
    assert result.exit_code == code, result.output
    return result.stderr


def test_command_writes_a_page(folder, model, table):
    said = run("page", model, "--out", folder / "model.html")
    assert re.search(r"the model as a page, of 0\.\d MB: .*model\.html", said)
    data, contents = held(folder / "model.html")
    assert data["target"] == "outcome"
    assert data["classes"] == ["ill", "well"]
    assert {"age", "dose"} <= {field["name"] for field in data["fields"]}
    assert data["near"] is None
    assert "all 120 training rows as numbers" in contents
    assert "rows of a table as they are" not in contents
    assert "already exists" in run("page", model, "--out", folder / "model.html", code=1)


def test_rows_are_in_the_page_only_if_asked_for(folder, model, table):
    """Words that no level of a column of the form has, such as the id of a patient, never are."""
    run("page", model, "--out", folder / "near.html", "--with-rows", table, "--title", "A < B")
    data, contents = held(folder / "near.html")
    ages = data["near"]["shown"][[field["name"] for field in data["fields"]].index("age")]
    known = [None if np.isnan(age) else age for age in patients(120)["age"]]
    assert ages == known
    assert data["near"]["targets"] == patients(120)["outcome"].tolist()
    assert "It also holds 120 rows of a table as they are" in contents
    text = (folder / "near.html").read_text(encoding="utf-8")
    assert "P0042" not in text
    assert "<h1>A &lt; B</h1>" in text


def test_rows_of_typed_columns_are_shown_as_the_form_shows_them(tmp_path):
    table, _ = typed_table(200, 0)
    path = write_model_page(fitted("typed columns"), tmp_path / "model.html", rows=table)
    data, _ = held(path)
    shown = dict(zip([f["name"] for f in data["fields"]], data["near"]["shown"], strict=True))
    days = (table["day"] - pd.Timestamp("1970-01-01")).dt.days
    assert shown["day"] == days.tolist()
    assert shown["paid"] == table["paid"].astype(int).tolist()
    assert shown["size"] == table["size"].tolist()
    assert data["near"]["targets"] is None


def test_page_of_500_rows_and_20_columns_is_small(tmp_path):
    """And has no address in it: nothing is loaded, and nothing can be sent."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(500, 20))).rename(columns="x{}".format)
    y = np.where(X[[f"x{k}" for k in range(20)]].sum(axis=1) + rng.normal(size=500) > 0, "a", "b")
    model = RelevanceSVC().fit(X, y)
    path = write_model_page(model, tmp_path / "model.html")
    assert len(model.columns_.names) == 20
    assert path.stat().st_size < 1_000_000
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", text) == []
    assert "default-src 'none'" in text
    assert re.findall(r"\b(fetch|XMLHttpRequest|WebSocket|sendBeacon|import)\(", text) == []


def test_a_model_without_kernels_holds_no_rows(tmp_path):
    model = RelevanceSVC().fit(*two_columns())
    (member,) = model._models_
    own = [k for k, part in enumerate(member.parts) if part.name in ("linear", "additive")]
    mixture = replace(
        member.mixture, weights=member.mixture.weights[own], slopes=member.mixture.slopes[own]
    )
    parts = tuple(member.parts[k] for k in own)
    model._models_ = (replace(member, parts=parts, mixture=mixture),)
    data, contents = held(write_model_page(model, tmp_path / "model.html"))
    assert "No training row is in it." in contents
    assert data["members"][0]["Z"] is None


def test_other_models_are_refused(tmp_path):
    X, y = two_columns()
    path = tmp_path / "model.html"
    with pytest.raises(TableError, match=r"RelevanceSVC or RelevanceSVR.*; this model is SVC\."):
        write_model_page(SVC().fit(X, y), path)
    with pytest.raises(TableError, match="this pipeline starts with PCA"):
        write_model_page(make_pipeline(PCA(), RelevanceSVC()).fit(X, y), path)
    with pytest.raises(ValueError, match="not fitted"):
        write_model_page(RelevanceSVR(), path)
    assert not path.exists()


def test_a_model_that_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_SIZE", 100_000)
    model = RelevanceSVC().fit(*two_columns(300))
    with pytest.raises(
        TableError, match=r"0\.\d MB, and a page has at most 0 MB.*300 training rows"
    ):
        write_model_page(model, tmp_path / "model.html")
    assert not (tmp_path / "model.html").exists()
