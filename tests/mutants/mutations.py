"""Small errors that somebody could make in the package, and the tests that notice each of them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutation:
    """A text of one file, what replaces it, and the tests that are run."""

    name: str
    path: str
    old: str
    new: str
    tests: str

    def applied(self, source: str) -> str:
        """Return the source with the error in it."""
        found = source.count(self.old)
        if found != 1:
            raise ValueError(f"{self.path} holds {self.old!r} {found} times instead of once")
        return source.replace(self.old, self.new)


_KERNELS = "tests/laws/test_gradient_laws.py tests/laws/test_kernel_laws.py"
_DUALS = "tests/qp/test_problem.py tests/laws/test_solver_laws.py"
_SPANS = "tests/criteria/test_span.py tests/laws/test_criterion_laws.py"

MUTATIONS = [
    # --- kernels
    Mutation(
        "Matern 5/2: sign in the derivative",
        "kernels/stationary.py",
        "-(5 / 6) * (1 + u)",
        "-(5 / 6) * (1 - u)",
        _KERNELS,
    ),
    Mutation(
        "polynomial: derivative without the factor degree",
        "kernels/dot.py",
        "return self.degree * (t + self.coef0)",
        "return (t + self.coef0)",
        _KERNELS,
    ),
    Mutation(
        "product: cotangent of the wrong side",
        "kernels/composed.py",
        "Cotangent.of(full * self.left(X))",
        "Cotangent.of(full * self.right(X))",
        _KERNELS,
    ),
    Mutation(
        "normalised kernel: sign of the diagonal's derivative",
        "kernels/composed.py",
        "diagonal=-through_norms",
        "diagonal=through_norms",
        _KERNELS,
    ),
    Mutation(
        "cotangent: diagonal in the wrong columns of a block",
        "kernels/cotangent.py",
        "out[at - start, at - column] +=",
        "out[at - start, at - start] +=",
        _KERNELS,
    ),
    # --- qp
    Mutation(
        "squared slack: cost for its inverse",
        "qp/problem.py",
        "diagonal += (1 / C)",
        "diagonal += (1 * C)",
        _DUALS,
    ),
    Mutation(
        "certificate: sign of the multipliers",
        "qp/problem.py",
        "gradient + self.A.T @ nu",
        "gradient - self.A.T @ nu",
        _DUALS,
    ),
    Mutation(
        "objective: sign of the linear term",
        "qp/problem.py",
        "0.5 * beta @ (gradient - self.p)",
        "0.5 * beta @ (gradient + self.p)",
        _DUALS,
    ),
    Mutation(
        "bounds: upper bounds of the positive class only",
        "qp/terms.py",
        "return np.minimum(0, bound), np.maximum(0, bound)",
        "return np.minimum(0, -bound), np.maximum(0, bound)",
        _DUALS,
    ),
    Mutation(
        "smallest ball: linear term without its half",
        "qp/terms.py",
        "p=diagonal / 2",
        "p=diagonal",
        _DUALS,
    ),
    Mutation(
        "squared hinge: means without the cost",
        "qp/squared_hinge.py",
        "share = cost / cost.sum()",
        "share = np.full(len(cost), 1 / len(cost))",
        "tests/qp/test_squared_hinge.py",
    ),
    Mutation(
        "kink: the wrong side of zero where a variable falls",
        "qp/terms.py",
        "np.where(b > 0, kink, -kink)",
        "np.where(b >= 0, kink, -kink)",
        "tests/qp/test_kinks.py",
    ),
    Mutation(
        "nu: the sum of a nu-SVC without the weights",
        "qp/nu.py",
        "float(self.nu * self.weights.sum())",
        "float(self.nu * len(self.weights))",
        "tests/qp/test_nu.py",
    ),
    # --- criteria
    Mutation(
        "span: sign for bounded support vectors",
        "criteria/span.py",
        "diag[bounded] - explained",
        "diag[bounded] + explained",
        _SPANS,
    ),
    Mutation(
        "span: a bounded support vector counts as free",
        "criteria/span.py",
        "limit = (1 - 1e-10) *",
        "limit = (1 + 1e-10) *",
        _SPANS,
    ),
    Mutation(
        "radius-margin: sign of the ball in the cotangent",
        "criteria/radius_margin.py",
        "np.array([*scale, -norm])",
        "np.array([*scale, norm])",
        "tests/criteria/test_radius_margin.py tests/laws/test_criterion_laws.py",
    ),
    Mutation(
        "dual objective: slope by C without the sample weights",
        "criteria/dual.py",
        "(weights * np.maximum(0, 1 - y * decisions)",
        "(np.maximum(0, 1 - y * decisions)",
        "tests/criteria/test_dual.py tests/laws/test_criterion_laws.py",
    ),
    # --- outer
    Mutation(
        "simplex: one entry too few in the projection",
        "outer/domains.py",
        "np.arange(1, len(theta) + 1)",
        "np.arange(2, len(theta) + 2)",
        "tests/outer",
    ),
    Mutation(
        "projected gradient: rising steps are accepted",
        "outer/methods.py",
        "while new_value > value - self.armijo * part * decrease:",
        "while new_value > value + abs(value) + self.armijo * part * decrease:",
        "tests/outer",
    ),
    # --- svm, transform, discrimination
    Mutation(
        "margin-radius: dual value without its half",
        "svm/margin_radius/descent.py",
        "point.total - 0.5 * float(point.q.max(initial=0.0))",
        "point.total - float(point.q.max(initial=0.0))",
        "tests/svm/margin_radius",
    ),
    Mutation(
        "dual objective: half of the paper's step",
        "svm/dual_objective/estimator.py",
        "FixedStep(2 * self.eta)",
        "FixedStep(self.eta)",
        "tests/svm/dual_objective",
    ),
    Mutation(
        "width path: cost without sample and class weights",
        "svm/adaptive_kernel.py",
        "costs, bias = C * task.cost_factor, self._has_bias()",
        "costs, bias = C * np.ones_like(task.cost_factor), self._has_bias()",
        "tests/svm/adaptive_kernel",
    ),
    Mutation(
        "feature discrimination: scales of squared distances",
        "svm/feature_discrimination/space.py",
        "isinstance(owner, Laplacian) else scales**2",
        "isinstance(owner, Laplacian) else scales",
        "tests/svm/feature_discrimination",
    ),
    Mutation(
        "generalised bias: sign of the coefficients at the nodes",
        "svm/generalized_bias/construction.py",
        "@ -c[self.nodes]",
        "@ c[self.nodes]",
        "tests/svm/generalized_bias",
    ),
    Mutation(
        "scales of features: mean for a sum",
        "discrimination/scales.py",
        "np.log(np.mean(np.exp(squared)))",
        "np.log(np.sum(np.exp(squared)))",
        "tests/discrimination tests/svm/feature_discrimination",
    ),
    # --- calibration
    Mutation(
        "sigmoid: Platt's target without one of its two rows",
        "calibration/sigmoids.py",
        "(above + 1) / (above + 2)",
        "(above + 1) / (above + 1)",
        "tests/calibration",
    ),
    Mutation(
        "probabilities: class weights applied twice",
        "calibration/scores.py",
        "softmax(scores - logs, axis=1)",
        "softmax(scores + logs, axis=1)",
        "tests/calibration",
    ),
    Mutation(
        "prediction sets: the lead over the best score for that over the best other one",
        "calibration/conformal.py",
        "np.where(best, two[:, :1], two[:, 1:])",
        "np.where(best, two[:, 1:], two[:, 1:])",
        "tests/calibration",
    ),
    # --- RelevanceSVC and RelevanceSVR
    Mutation(
        "evidence: noise without the weights of the rows",
        "svm/relevance/evidence.py",
        "(1 / rows.weight).astype(real)",
        "np.ones(len(rows.weight), real)",
        "tests/svm/relevance/test_evidence.py",
    ),
    Mutation(
        "prior: steps with the variance of lines",
        "svm/relevance/prior.py",
        "np.where(additive.is_step, self.tau, 1.0)",
        "np.where(additive.is_step, 1.0, 1.0)",
        "tests/svm/relevance/test_evidence.py tests/svm/relevance/test_joint.py",
    ),
    Mutation(
        "mixture of numbers: pushed away from its centre",
        "svm/relevance/simplex.py",
        "-2 * penalty * centre)",
        "2 * penalty * centre)",
        "tests/svm/relevance/test_mixture.py",
    ),
    Mutation(
        "mixture of log-odds: gradient without the weights of the rows",
        "svm/relevance/simplex.py",
        "-Z @ (cost_factor * y * miss)",
        "-Z @ (y * miss)",
        "tests/svm/relevance/test_mixture.py",
    ),
]
