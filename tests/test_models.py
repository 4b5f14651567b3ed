"""The final estimator of a model, and the names of its features."""

from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from kernelwise import SVC
from kernelwise._models import feature_names, final_estimator, names_of_weights, unwrap
from tests.loop import loop

X, y = load_iris(return_X_y=True, as_frame=True)
X, y = X[y < 2], y[y < 2]


@loop(
    "wrap",
    [
        lambda model: model,
        lambda model: make_pipeline(StandardScaler(), model),
        lambda model: GridSearchCV(make_pipeline(StandardScaler(), model), {}, cv=2),
        lambda model: CalibratedClassifierCV(make_pipeline(StandardScaler(), model), cv=2),
        lambda model: make_pipeline(FixedThresholdClassifier(CalibratedClassifierCV(model, cv=2))),
    ],
    ids=["itself", "pipeline", "search", "calibration", "threshold"],
)
@loop("inner", [SVC(), RandomForestClassifier(3, random_state=0)])
def test_the_estimator_that_decides_is_found(wrap, inner):
    model = wrap(inner).fit(X, y)
    final = final_estimator(model)
    assert type(final) is type(inner)
    assert list(feature_names(model)) == list(X.columns)
    rows = X
    for steps in unwrap(model)[1]:
        rows = steps.transform(rows)
    assert final.predict(rows).shape == y.shape


def test_names_of_weights():
    names = list(X.columns)
    assert names_of_weights(SVC().fit(X, y), 4) == names
    assert names_of_weights(SVC().fit(X.to_numpy(), y), 4) == ["x0", "x1", "x2", "x3"]
    assert names_of_weights(SVC().fit(X, y), 2) == ["column 0", "column 1"]
    products = make_pipeline(PolynomialFeatures(2, include_bias=False), SVC()).fit(X.to_numpy(), y)
    assert names_of_weights(products, 14, ["a", "b", "c", "d"])[3:6] == ["d", "a^2", "a b"]
