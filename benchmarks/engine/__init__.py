"""The engine of benchmarks and reproductions: tasks, result files and pictures.

An `Experiment` lists tasks; `run` does those that its result file lacks; whoever renders a page
reads the rows of that file. The engine knows nothing of support vector machines.
"""

from .errors import ExperimentError
from .experiment import SCALES, Experiment, Row, Scale, Task
from .figures import Drawing, save
from .runner import Outcome, chosen, plan, run
from .seeds import key_of
from .store import ResultFile, Results

__all__ = [
    "SCALES",
    "Drawing",
    "Experiment",
    "ExperimentError",
    "Outcome",
    "ResultFile",
    "Results",
    "Row",
    "Scale",
    "Task",
    "chosen",
    "key_of",
    "plan",
    "run",
    "save",
]
