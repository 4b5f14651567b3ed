'''Tables and figures of the papers, measured again beside the printed figures.

``python -m reproduction`` runs the registered experiments, writes one result file for each, and
renders tables, figures and a page from these files alone. A paper is a folder in ``papers``, found
by being there. This is a whole one::

    """Tables of the paper on ..."""

    from collections.abc import Sequence

    from benchmarks.engine import Drawing

    from ...data import dataset
    from ...experiment import PaperExperiment, Row, Scale, Task, crossed, register
    from ...protocol import random_split, timed
    from ...rows import grouped, mean_of, only, values_of
    from ...tables import Check, Summary, against, compared, tabulate

    PRINTED = {"iris": 92.1, "glass": 45.7}  # accuracy in Table 1


    @register
    class Table1(PaperExperiment):
        name = "my-paper-table1"  # paper-table, as on the command line
        title = "My paper, Table 1: accuracy"
        paper = "A. Author, My paper, 2010"
        description = "Accuracy of ... The paper leaves open ...; here ..."
        repeats = {"full": 100, "quick": 5, "smoke": 1}
        seconds = 0.5  # CPU, one task; or override cost(task)
        datasets = ("iris", "glass")  # checked before any work
        seed_keys = ("dataset", "repeat")  # not the variant: all variants get the same split

        def tasks(self, scale: Scale) -> list[Task]:
            names = PRINTED if scale.name != "smoke" else ["iris"]
            return crossed(dataset=names, variant=["SVM", "ours"], repeat=range(scale.repeats))

        def run(self, task: Task, seed: int, data_dir) -> Row:
            data = dataset(task["dataset"], data_dir)
            train, test = random_split(len(data.y), 0.2, seed, data.y)
            ...
            _, seconds = timed(model.fit, data.X[train], data.y[train])
            return {"accuracy": 100 * accuracy, "fit_seconds": seconds}

        def summarise(self, rows: Sequence[Row]) -> Summary:
            svm = grouped(only(rows, variant="SVM"), "dataset", PRINTED)
            cells = lambda name, own: against(PRINTED[name], values_of(own, "accuracy"))
            table = tabulate("Accuracy, %", "data set", svm, [(compared("SVM", 1), cells)])
            iris = mean_of(svm["iris"], "accuracy") if "iris" in svm else None
            checks = [Check("iris accuracy", iris, ">", 90)]
            return Summary([table], checks, ["On glass we are 2.2 points above the paper: ..."])

        def figures(self, rows: Sequence[Row]) -> list[Drawing]:
            from matplotlib.figure import Figure  # never pyplot

            ...
            return [Drawing("gain", "The gain in accuracy of each data set.", figure)]

Everything that a result depends on is in the task (plain values) or comes from the seed. ``run`` is
stateless and uses one thread. ``summarise`` and ``figures`` take whatever rows exist (after an
interrupted run, or with ``--only``), so means of nothing must not fail: `against` and `Spread.of`
take empty lists, and a `Check` with the value None is "open". A row has the entries of task and
result, and "cpu". Numbers in remarks are computed from the rows. Raise ``protocol`` when old
results stop being comparable.
'''
