"""The sections of the pages: for each suite a title, a paragraph from its numbers and a table."""

from .own import gram, growth, startup, warm
from .paths import leave_one_out, search, span_path
from .peers import fit, multiclass, predict
from .weights import weight_criteria, weight_steps, weights

SECTIONS = {
    "fit": ("Fit", fit),
    "predict": ("Predict", predict),
    "gram": ("Kernel matrices", gram),
    "warm": ("Warm starts", warm),
    "multiclass": ("Several classes", multiclass),
    "growth": ("Growth with the number of rows", growth),
    "startup": ("Start of a process", startup),
}
LEARNER_SECTIONS = {
    "weights": ("Feature weights by the dual objective, on noisy sets", weights),
    "weight_criteria": ("Feature weights on standardised columns", weight_criteria),
    "weight_steps": ("What learning the weights costs", weight_steps),
    "span_path": ("Width and C by the span estimate", span_path),
    "leave_one_out": ("The span estimate and leave-one-out", leave_one_out),
    "search": ("Grid search", search),
}
