"""Modules that have moved are found under their old names, so that old pickles load."""

import pickle
import subprocess
import sys
from importlib import import_module

import pytest

from kernelwise import _moved, criteria, evaluation, kernels, qp, svm, tabular, transform
from kernelwise.svm.base.older_models import Machines, Space
from kernelwise.svm.base.warm_start import LastFit

# What pickles of the version before the moves hold, besides classes that have stayed in place.
OLD_NAMES = {
    "bounds.alignment.Alignment": criteria.Alignment,
    "bounds.base.Criterion": criteria.Criterion,
    "bounds.base.Evaluation": criteria.CriterionValue,
    "bounds.cross_validation.CrossValidation": criteria.CrossValidation,
    "bounds.dual.DualObjective": criteria.DualObjective,
    "bounds.objective.Objective": criteria.Objective,
    "bounds.radius_margin.RadiusMargin": criteria.RadiusMargin,
    "bounds.span.LeaveOneOut": criteria.LeaveOneOut,
    "kernels.given.Precomputed": kernels.Precomputed,
    "kernels.given.FunctionKernel": kernels.FunctionKernel,
    "qp.run.Progress": qp.Progress,
    "svm.machines.Machines": Machines,
    "svm.warm.LastFit": LastFit,
    "svm.margin_radius_space.Space": Space,
    "svm.feature_discrimination.FeatureDiscriminationSVC": svm.FeatureDiscriminationSVC,
    "svm.generalized_bias.GeneralizedBiasSVC": svm.GeneralizedBiasSVC,
    "svm.margin_radius.MarginRadiusSVC": svm.MarginRadiusSVC,
    "svm.relevance.RelevanceSVC": svm.RelevanceSVC,
    "svm.search.SVCSearchCV": svm.SVCSearchCV,
    "svm.diagnosis.bounds_of": svm.bounds_of,
    "tabular.results.Evaluation": evaluation.Evaluation,
    "tabular.results.Weight": tabular.Weight,
    "tabular.cost.Cost": evaluation.Cost,
    "transform.relevance.RelevanceSelector": transform.RelevanceSelector,
}


@pytest.mark.parametrize("name", OLD_NAMES)
def test_a_pickle_finds_a_class_under_its_old_name(name):
    module, _, attribute = name.rpartition(".")
    old_pickle = f"ckernelwise.{module}\n{attribute}\n.".encode()  # protocol 0: a global, and stop
    assert pickle.loads(old_pickle) is OLD_NAMES[name]


def test_a_fresh_interpreter_finds_them_too():
    code = "import pickle; pickle.loads(b'ckernelwise.bounds.dual\\nDualObjective\\n.')"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


@pytest.mark.parametrize("old", _moved.MODULES)
def test_the_table_leads_from_modules_that_are_gone_to_modules_that_exist(old):
    assert import_module(old).__spec__.loader is _moved.MovedModules
    assert import_module(_moved.MODULES[old]).__spec__.loader is not _moved.MovedModules


@pytest.mark.parametrize("name", _moved.CLASSES)
def test_the_table_of_names_leads_to_classes_and_functions(name):
    module, attribute = _moved.current_name(*name)
    assert callable(getattr(import_module(module), attribute))


def test_other_names_are_still_missing():
    with pytest.raises(ModuleNotFoundError):
        import_module("kernelwise.svm.nothing")
    with pytest.raises(AttributeError, match="Nothing"):
        _ = import_module("kernelwise.svm.machines").Nothing
