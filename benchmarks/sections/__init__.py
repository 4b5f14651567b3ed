"""The sections of the page: for each suite a title, a paragraph from its numbers and a table."""

from .own import gram, growth, startup, warm
from .peers import fit, multiclass, predict

SECTIONS = {
    "fit": ("Fit", fit),
    "predict": ("Predict", predict),
    "gram": ("Kernel matrices", gram),
    "warm": ("Warm starts", warm),
    "multiclass": ("Several classes", multiclass),
    "growth": ("Growth with the number of rows", growth),
    "startup": ("Start of a process", startup),
}
