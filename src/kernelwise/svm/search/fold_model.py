"""What is to be solved on a fold, and the fitted model that a scorer sees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..._typing import Array, Codes, Index
from ...kernels import Kernel
from ...qp import Solution
from ..base.estimator import common_attributes
from ..base.kernel_spec import KernelSpec
from ..base.multiclass import ONE_VS_ONE, Multiclass, members_of
from ..base.predictor import Predictor
from ..base.progress import FitProgress
from ..base.task import FitTask, Fitted, Labels
from ..svc import SVC


class FoldSVC(SVC):
    """A fitted SVC that knows its decision values on the very arrays it is going to be asked for.

    What a scorer rarely looks at, such as the support vectors, is put together when it does.
    """

    _LATE: ClassVar[frozenset[str]] = frozenset(
        {
            "_predictor_",
            "certificate_",
            "dual_coef_",
            "fit_status_",
            "intercept_",
            "margin_",
            "n_iter_",
            "n_support_",
            "support_",
            "support_vectors_",
        }
    )

    def knows(self, X: Any) -> Array | None:
        """Return the decision values of the machines on X, where they are known."""
        for rows, decisions in self.__dict__.get("_known", ()):
            if rows is X:
                return decisions
        return None

    def _decisions(self, X: Any) -> Array:
        known = self.knows(X)
        return super()._decisions(X) if known is None else known

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy, from decision values that the search knows already."""
        labels = np.asarray(y)
        if self.knows(X) is None or labels.ndim != 1 or labels.dtype.kind not in "biuSU":
            return float(super().score(X, y, sample_weight))
        # The same number without asking again of what type the labels are.
        return float(np.average(self.predict(X) == labels, weights=sample_weight))

    def __getattr__(self, name: str) -> Any:
        if name in FoldSVC._LATE and "_late" in self.__dict__:
            self.__dict__.pop("_late")()
            return getattr(self, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _fitted_scheme(self) -> Multiclass:
        return ONE_VS_ONE

    def _warn(self, fitted: Fitted, certificate: Any) -> None:
        """Say nothing: a search says it once for all its fits."""


def as_fold_model(model: SVC) -> FoldSVC:
    """Return a copy of the model that may come to know decision values."""
    out = FoldSVC.__new__(FoldSVC)
    out.__dict__.update(model.__dict__)
    return out


@dataclass(frozen=True)
class FoldProblem:
    """The machines of a kernel on the training rows of a fold.

    Parameters
    ----------
    model : FoldSVC
        What is going to be fitted, with its classes and its kernel.
    X : {ndarray, sparse matrix} of shape (n, d)
        All rows, of which the fold has some.
    rows : ndarray of shape (m,)
        The training rows of positive weight, ascending.
    counted : ndarray of shape (m,)
        The places of those rows among the training rows.
    classes : ndarray of shape (m,)
        Their classes.
    cost : ndarray of shape (m,)
        What multiplies C of each.
    codes : ndarray of shape (m, n_machines)
        The code matrix.
    """

    model: FoldSVC
    X: Any
    rows: Index
    counted: Index
    classes: Index
    cost: Array
    codes: Codes

    @classmethod
    def of(cls, model: SVC, X: Any, y: Array, train: Index, sample_weight: Any) -> FoldProblem:
        """Set up what a fit of the training rows alone would solve."""
        fold, spec = as_fold_model(model), KernelSpec.of(model)
        labels = Labels.of(y[train], sample_weight, fold.class_weight)
        # In runs, where rows lie in runs.
        labels = labels.in_order(np.argsort(train[labels.rows], kind="stable"))
        rows = train[labels.rows]
        fold.classes_, fold.class_weight_ = labels.names, labels.class_weight
        fold.kernel_ = spec.resolve(_some(fold, X, rows), labels.sample_weight)
        fold.shape_fit_ = (len(train), len(train) if spec.is_precomputed else X.shape[1])
        if hasattr(fold, "n_features_in_"):
            fold.n_features_in_ = fold.shape_fit_[1]
        codes = ONE_VS_ONE.codes(labels.classes, len(labels.names))
        cost = labels.sample_weight * labels.class_weight[labels.classes]
        return cls(fold, X, rows, labels.rows, labels.classes, cost, codes)

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        return self.model.kernel_

    @cached_property
    def members(self) -> list[Index]:
        """The places in ``rows`` of the rows of each machine."""
        return members_of(self.codes)

    def fitted(self, C: float, solutions: list[Solution], known: list[tuple[Any, Array]]) -> SVC:
        """Return the model of some solutions, which knows its decision values on some arrays."""
        model = as_fold_model(self.model)
        model.C, model._known = C, known

        def complete() -> None:
            order = np.argsort(self.counted)  # that of the training rows
            labels = Labels(
                model.classes_,
                self.counted,
                self.classes,
                np.ones(len(self.counted)),
                model.class_weight_,
            ).in_order(order)
            task = FitTask(
                X=model._take(self.X, self.rows[order]),
                labels=labels,
                multiclass=ONE_VS_ONE,
                kernel=self.kernel,
                progress=FitProgress(model),
                threads=1,
                given=(None, None, None),
            )
            place = np.argsort(order)
            members = [place[each] for each in self.members]
            predictor = Predictor.of(task, solutions, members=members)
            state = common_attributes(task, Fitted(predictor, solutions))
            model.__dict__.update({k: v for k, v in state.items() if k in FoldSVC._LATE})

        model._late = complete
        return model


def _some(model: SVC, X: Any, rows: Index) -> Any:
    """Return the rows where a kernel depends on their values, else any of as many columns."""
    return X[rows] if isinstance(model.gamma, str) and isinstance(model.kernel, str) else X[:1]
