"""Facts about each data set: size, classes, sources, and columns that leak the class."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

_UCI = "The data are from the UCI repository; see there for the licence and the citation."
_OWN = "The copy states no licence: consult the original publication before you share it."


@dataclass(frozen=True)
class Remote:
    """A data set of OpenML; ``labels`` maps its spelling of the classes to ours."""

    data_id: int
    labels: dict[str, str] = field(default_factory=dict)
    target: str = "default-target"


@dataclass(frozen=True)
class Bundled:
    """A loader of scikit-learn; ``labels`` maps its class numbers to the labels of the source."""

    loader: str
    labels: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Spec:
    """Facts about a data set, checked on loading; a regression has no classes."""

    name: str
    features: int
    classes: dict[str, int]
    papers: tuple[str, ...]
    about: str
    rows: int
    file: str | None
    missing: int = 0
    licence: str = _UCI
    leaks: dict[str, str] = field(default_factory=dict)
    base: str | None = None
    bundled: Bundled | None = None
    remote: Remote | None = None


def spec_of(name: str) -> Spec:
    """Return the facts about a set; raise with the nearest names for an unknown one."""
    if name in REGISTRY:
        return REGISTRY[name]
    near = get_close_matches(str(name), REGISTRY, n=3, cutoff=0.5)
    remedy = f"did you mean {' or '.join(map(repr, near or REGISTRY))}?"
    raise ValueError(f"name={name!r} is not a data set; {remedy}")


def _counts(text: str) -> dict[str, int]:
    """Parse class counts such as "M 111, R 97"."""
    pairs = (part.rsplit(" ", 1) for part in text.split(", ")) if text else ()
    return {label: int(count) for label, count in pairs}


REGISTRY: dict[str, Spec] = {}


def _add(name: str, classes: str, features: int, papers: str, about: str, **facts: Any) -> None:
    """Register a set; its file is NAME.csv.gz unless it is derived or the facts name another."""
    counts = _counts(classes)
    usual = {
        "rows": sum(counts.values()),
        "file": None if "base" in facts else f"{name}.csv.gz",
    }
    REGISTRY[name] = Spec(name, features, counts, tuple(papers.split()), about, **(usual | facts))


_add(
    "breast_cancer_wisconsin", "benign 458, malignant 241", 9,
    "dual_objective adaptive_kernel relevance",
    "Breast Cancer Wisconsin (Original): grades of cells. 236 rows are repeated in the source.",
    missing=16, remote=Remote(15),
)  # fmt: skip
_add(
    "ecoli", "cp 143, im 77, pp 52, imU 35, om 20, omL 5, imL 2, imS 2", 7,
    "dual_objective relevance", "Ecoli: where proteins are found in the cell.",
    remote=Remote(39),
)  # fmt: skip
_add(
    "glass", "1 70, 2 76, 3 17, 5 13, 6 9, 7 29", 9, "dual_objective relevance",
    "Glass Identification: kinds of glass by refraction and elements.",
    remote=Remote(
        41,
        {
            "build wind float": "1", "build wind non-float": "2", "vehic wind float": "3",
            "containers": "5", "tableware": "6", "headlamps": "7",
        },
    ),
)  # fmt: skip
_add(
    "ionosphere", "b 126, g 225", 34,
    "dual_objective margin_radius feature_discrimination relevance",
    "Ionosphere: radar returns, good or bad. The second column is 0 throughout.",
    remote=Remote(59),
)  # fmt: skip
_add(
    "iris", "Iris-setosa 50, Iris-versicolor 50, Iris-virginica 50", 4, "dual_objective relevance",
    "Iris, as UCI has it. scikit-learn's copy is Fisher's, which differs in 3 cells of 2 rows.",
    bundled=Bundled(
        "load_iris", {"0": "Iris-setosa", "1": "Iris-versicolor", "2": "Iris-virginica"}
    ),
    remote=Remote(61),
)  # fmt: skip
_add(
    "pima", "0 500, 1 268", 8, "dual_objective feature_discrimination relevance",
    "Pima Indians Diabetes. Zeros stand for missing measurements, as in the source.",
    remote=Remote(37, {"tested_negative": "0", "tested_positive": "1"}),
)  # fmt: skip
_add(
    "voting", "democrat 267, republican 168", 16,
    "dual_objective feature_discrimination relevance",
    "Congressional Voting Records of 1984: yes, no or missing. Called house in one paper.",
    missing=392, remote=Remote(56),
)  # fmt: skip
_add(
    "bupa", "1 145, 2 200", 6, "margin_radius feature_discrimination relevance",
    "Liver Disorders (BUPA); the class is the column `selector` of the source, as the papers use "
    "it, though its authors meant it to mark a split.",
    remote=Remote(8, target="selector"),
)  # fmt: skip
_add(
    "sonar", "M 111, R 97", 60,
    "margin_radius adaptive_kernel feature_discrimination relevance",
    "Connectionist Bench (Sonar): a mine or a rock.",
    remote=Remote(40, {"Mine": "M", "Rock": "R"}),
)  # fmt: skip
_add(
    "wdbc", "B 357, M 212", 30, "margin_radius feature_discrimination relevance",
    "Breast Cancer Wisconsin (Diagnostic): shapes of nuclei.",
    bundled=Bundled("load_breast_cancer", {"0": "M", "1": "B"}),
    remote=Remote(1510, {"1": "B", "2": "M"}),
)  # fmt: skip
_add(
    "wpbc", "N 151, R 47", 33, "margin_radius relevance",
    "Breast Cancer Wisconsin (Prognostic): whether the cancer came back.",
    missing=4, leaks={"time": "is the time until it came back, or the time without it so far"},
)  # fmt: skip
_add(
    "musk1", "musk 207, non-musk 269", 166, "margin_radius relevance",
    "Musk, version 1. Rows are shapes of 92 molecules, whose names are left out: folds by row are "
    "optimistic.",
)  # fmt: skip
_add(
    "colon", "tumor 40, normal 22", 2000, "margin_radius relevance",
    "Colon tissue, gene expression of Alon et al. 1999; raw intensities.", licence=_OWN,
)  # fmt: skip
_add(
    "central_nervous_system", "class1 21, class2 39", 7129, "margin_radius",
    "Embryonal tumours, gene expression of Pomeroy et al. 2002, data set C; class1 died, class2 "
    "survived.",
    licence=_OWN,
)  # fmt: skip
_add(
    "leukemia", "ALL 47, AML 25", 7129, "margin_radius",
    "Leukaemia, gene expression of Golub et al. 1999, training and test rows joined; raw integers. "
    "The paper prints 7128 features.",
    licence=_OWN, remote=Remote(1104),
)  # fmt: skip
_add(
    "prostate_singh", "tumor 52, normal 50", 12600, "",
    "Prostate tissue, gene expression of Singh et al. 2002: a further set of many columns. It is "
    "not the prostate set of the margin-radius paper, whose preprocessed spectra are not public.",
    licence=_OWN,
)  # fmt: skip
_add(
    "usps_train",
    "0 1194, 1 1005, 2 731, 3 658, 4 652, 5 556, 6 664, 7 645, 8 542, 9 644",
    256, "adaptive_kernel",
    "USPS digits, 16 x 16 pixels in [-1, 1], training part. The paper uses 0 and 3.",
    licence=_OWN,
)  # fmt: skip
_add(
    "usps_test", "0 359, 1 264, 2 198, 3 166, 4 200, 5 160, 6 170, 7 147, 8 166, 9 177",
    256, "adaptive_kernel", "USPS digits, test part.", licence=_OWN,
)  # fmt: skip
_add(
    "arrhythmia",
    "1 245, 2 44, 3 15, 4 15, 5 13, 6 25, 7 3, 8 2, 9 9, 10 50, 14 4, 15 5, 16 22", 279, "",
    "Arrhythmia: electrocardiograms; class 1 is normal. 17 columns are constant.",
    missing=408, remote=Remote(5),
)  # fmt: skip
_add(
    "arrhythmia_normal", "normal 245, other 207", 279, "feature_discrimination",
    "`arrhythmia` as two classes: normal (1) or not. The paper does not name its classes.",
    missing=408, base="arrhythmia",
)  # fmt: skip
_add(
    "automobile", "-2 3, -1 22, 0 67, 1 54, 2 32, 3 27", 25, "",
    "Automobile (imports-85); the class is `symboling`, an insurer's risk.",
    missing=59, remote=Remote(9),
)  # fmt: skip
_add(
    "automobile_risky", "low_risk 92, risky 113", 25, "feature_discrimination",
    "`automobile` as two classes: risky where symboling > 0. The paper does not name its classes.",
    missing=59, base="automobile",
)  # fmt: skip
_add(
    "import_lowrisk", "low_risk 71, risky 88", 25, "feature_discrimination",
    "`automobile`, its complete rows, as two classes: risky where symboling > 0. That this is the "
    "set called import in the paper is a guess.",
    base="automobile",
)  # fmt: skip
_add(
    "biomed", "carrier 75, normal 134", 5, "feature_discrimination relevance",
    "Biomed, of StatLib: carriers of a disorder by age and four blood measurements. Number, "
    "hospital and date of the observations are left out. 194 rows are complete.",
    missing=15, licence=_OWN,
)  # fmt: skip
_add(
    "echocardiogram", "0 88, 1 43", 10, "feature_discrimination",
    "Echocardiogram; the class is `still_alive`. One malformed row of the source is left out.",
    missing=101,
    leaks={
        "survival": "is the months that the patient lived after the attack",
        "alive_at_1": "is whether the patient lived a year after the attack",
    },
)  # fmt: skip
_add(
    "echocardiogram_alive1", "0 50, 1 24", 7, "feature_discrimination",
    "`echocardiogram` where `alive_at_1` is known, which is the class here; the clinical features "
    "alone.",
    missing=21, base="echocardiogram",
)  # fmt: skip
_add(
    "hepatitis", "die 32, live 123", 19, "feature_discrimination relevance",
    "Hepatitis. Some columns of two words spell them differently from the source, one to one.",
    missing=167, remote=Remote(55, {"DIE": "die", "LIVE": "live"}),
)  # fmt: skip
_add(
    "horse_colic", "yes 232, no 136", 22, "feature_discrimination relevance",
    "Horse Colic, 300 training and 68 test rows joined; the class is whether the lesion was "
    "surgical.",
    missing=1927, leaks={"outcome": "is the fate of the horse, known only after the lesion"},
    remote=Remote(27),
)  # fmt: skip
_add(
    "housing", "", 13, "",
    "Boston Housing: a regression, whose target is `medv`, the median value of homes. The column "
    "`b` is derived from the share of black residents; do not base decisions on it.",
    rows=506, remote=Remote(531),
)  # fmt: skip
_add(
    "housing_medv35", "medv_above_35 48, medv_at_most_35 458", 13, "feature_discrimination",
    "`housing` as two classes: medv > 35 or not. The paper does not name its classes.",
    base="housing",
)  # fmt: skip
_add(
    "coil20", ", ".join(f"{i} 72" for i in range(1, 21)), 1024, "generalized_bias",
    "Columbia COIL-20: 20 objects on a turntable, 32 x 32 grey levels in 0..255. The rows of a "
    'class follow the angle; pixels are column by column: row.reshape(32, 32, order="F").',
    licence=_OWN,
)  # fmt: skip
_GROUPS = (
    "alt.atheism", "comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware",
    "comp.sys.mac.hardware", "comp.windows.x", "misc.forsale", "rec.autos", "rec.motorcycles",
    "rec.sport.baseball", "rec.sport.hockey", "sci.crypt", "sci.electronics", "sci.med",
    "sci.space", "soc.religion.christian", "talk.politics.guns", "talk.politics.mideast",
    "talk.politics.misc", "talk.religion.misc",
)  # fmt: skip
_POSTS = ", ".join(f"{g} {997 if g == 'soc.religion.christian' else 1000}" for g in _GROUPS)
_add(
    "newsgroups20", _POSTS, 30772, "generalized_bias",
    "20 newsgroups, the original collection of 19,997 posts: the counts of words in the bodies, "
    "for words in at least 5 posts, as a sparse matrix. 44 rows are empty because their bodies "
    "have no such word. scikit-learn and OpenML have other selections of posts.",
    licence=_OWN, file="newsgroups20_counts.npz",
)  # fmt: skip
_add(
    "newsgroups20_text", _POSTS, 1, "generalized_bias",
    "The posts of `newsgroups20`, in the same order, as strings.",
    licence=_OWN, file="newsgroups20.jsonl.gz",
    leaks={"headers": "name the group; a post begins after its first blank line"},
)  # fmt: skip
_add(
    "wine", "0 59, 1 71, 2 48", 13, "relevance",
    "Wine, as scikit-learn has it: chemical analyses of three cultivars.",
    file=None, bundled=Bundled("load_wine"),
)  # fmt: skip
_add(
    "digits", "0 178, 1 182, 2 177, 3 183, 4 181, 5 182, 6 181, 7 179, 8 174, 9 180", 64,
    "relevance", "Handwritten digits, 8 x 8 pixels in 0..16, as scikit-learn has them.",
    file=None, bundled=Bundled("load_digits"),
)  # fmt: skip
