"""The package `bounds` was renamed `criteria`; its old name still works."""

import pytest

from kernelwise import criteria


def test_the_old_name_gives_the_same_objects_and_warns():
    with pytest.warns(FutureWarning, match=r"kernelwise\.criteria"):
        from kernelwise.bounds import DualObjective
    assert DualObjective is criteria.DualObjective


def test_the_old_name_has_nothing_else():
    import kernelwise.bounds

    assert not hasattr(kernelwise.bounds, "warnings_of")
