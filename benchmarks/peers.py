"""The classifiers that are compared: ours first, then its peers."""

from functools import cache
from typing import Any


@cache
def classifiers() -> dict[str, Any]:
    """Return the classes by name, as far as they are installed."""
    from sklearn.svm import SVC

    import kernelwise

    found: dict[str, Any] = {"kernelwise": kernelwise.SVC, "SVC": SVC}
    try:
        from sklearnex.svm import SVC as IntelexSVC
    except ImportError:
        return found
    return found | {"intelex": IntelexSVC}


def has_intelex() -> bool:
    """Return whether scikit-learn-intelex is installed."""
    return "intelex" in classifiers()


def check_accelerated() -> None:
    """Fail if intelex would hand the work back to scikit-learn."""
    if not has_intelex():
        return
    model = classifiers()["intelex"]().fit([[0.0], [1.0]] * 5, [0, 1] * 5)
    if not hasattr(model, "_onedal_estimator"):
        raise RuntimeError(
            "scikit-learn-intelex fell back to scikit-learn's SVC: its version does not match this "
            "scikit-learn, and the comparison would be of SVC with itself."
        )
