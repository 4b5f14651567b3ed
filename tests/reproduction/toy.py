"""A small experiment with a summary and a figure."""

from benchmarks.engine import Drawing
from reproduction.experiment import PaperExperiment
from reproduction.tables import Check, Claim, Column, Summary, Table, against, compared
from tests.benchmarks import toy


class Toy(toy.Toy, PaperExperiment):
    paper = "N. N., Toy, 1999"
    description = "Numbers | with `code`."
    reproduces = ("Table 1: means",)

    def summarise(self, rows):
        columns = [Column("set"), *compared("value", 1)]
        values = {d: [r["value"] for r in rows if r["dataset"] == d] for d in ("a", "b")}
        table = Table("Means", columns, [[d, *against(0.5, values[d])] for d in values], "A note.")
        checks = [Check("rows", len(rows), ">=", 24), Check("other", None, "<", 1)]
        claims = [Claim("b is larger", "0.5", {"A": "0.1", "B": "0.6"}, {"A": False, "B": True})]
        return Summary([table], checks, [f"There are {len(rows)} rows."], claims)

    def figures(self, rows):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(3, 2))
        figure.add_subplot().plot([row["value"] for row in rows])
        return [Drawing("line", "The values.", figure)]
