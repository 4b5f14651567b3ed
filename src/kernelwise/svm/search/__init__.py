"""SVCSearchCV: a grid search over kernel parameters and C that shares all its work."""

from .estimator import SVCSearchCV, SVRSearchCV

__all__ = ["SVCSearchCV", "SVRSearchCV"]
