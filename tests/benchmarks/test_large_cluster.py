"""The benchmark of a cluster, in small."""

import json

import pytest

pytest.importorskip("distributed")

from benchmarks.large.cluster import main


def test_a_small_table_is_fitted_and_measured(capsys):
    main(
        [
            "--table",
            "spirals",
            "--rows",
            "3000",
            "--test-rows",
            "500",
            "--workers",
            "1",
            "--memory",
            "1GB",
        ]
    )
    found = json.loads(capsys.readouterr().out)
    assert found["accuracy"] > 0.7
    assert found["table_bytes"] == 3000 * 20 * 8
    assert [each["cpu_seconds"] > 0 for each in found["processes"]] == [True]
