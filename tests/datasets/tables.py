"""Made-up tables of the size of a registered set, and the facts of all sets."""

import gzip

import numpy as np

# name: rows, features, classes with their counts, missing cells. Written down apart from the
# library's own registry, so that a slip there does not go unseen.
FACTS = {
    "breast_cancer_wisconsin": (699, 9, {"benign": 458, "malignant": 241}, 16),
    "ecoli": (336, 7, dict(cp=143, im=77, pp=52, imU=35, om=20, omL=5, imL=2, imS=2), 0),
    "glass": (214, 9, {1: 70, 2: 76, 3: 17, 5: 13, 6: 9, 7: 29}, 0),
    "ionosphere": (351, 34, {"b": 126, "g": 225}, 0),
    "iris": (150, 4, {"Iris-setosa": 50, "Iris-versicolor": 50, "Iris-virginica": 50}, 0),
    "pima": (768, 8, {0: 500, 1: 268}, 0),
    "voting": (435, 16, {"democrat": 267, "republican": 168}, 392),
    "bupa": (345, 6, {1: 145, 2: 200}, 0),
    "sonar": (208, 60, {"M": 111, "R": 97}, 0),
    "wdbc": (569, 30, {"B": 357, "M": 212}, 0),
    "wpbc": (198, 33, {"N": 151, "R": 47}, 4),
    "musk1": (476, 166, {"musk": 207, "non-musk": 269}, 0),
    "colon": (62, 2000, {"tumor": 40, "normal": 22}, 0),
    "central_nervous_system": (60, 7129, {"class1": 21, "class2": 39}, 0),
    "leukemia": (72, 7129, {"ALL": 47, "AML": 25}, 0),
    "prostate_singh": (102, 12600, {"tumor": 52, "normal": 50}, 0),
    "usps_train": (
        7291, 256,
        dict(enumerate([1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644])), 0,
    ),
    "usps_test": (
        2007, 256, dict(enumerate([359, 264, 198, 166, 200, 160, 170, 147, 166, 177])), 0,
    ),
    "arrhythmia": (
        452, 279,
        {1: 245, 2: 44, 3: 15, 4: 15, 5: 13, 6: 25, 7: 3, 8: 2, 9: 9, 10: 50, 14: 4, 15: 5, 16: 22},
        408,
    ),
    "arrhythmia_normal": (452, 279, {"normal": 245, "other": 207}, 408),
    "automobile": (205, 25, {-2: 3, -1: 22, 0: 67, 1: 54, 2: 32, 3: 27}, 59),
    "automobile_risky": (205, 25, {"low_risk": 92, "risky": 113}, 59),
    "import_lowrisk": (159, 25, {"low_risk": 71, "risky": 88}, 0),
    "biomed": (209, 5, {"carrier": 75, "normal": 134}, 15),
    "echocardiogram": (131, 10, {0: 88, 1: 43}, 101),
    "echocardiogram_alive1": (74, 7, {0: 50, 1: 24}, 21),
    "hepatitis": (155, 19, {"die": 32, "live": 123}, 167),
    "horse_colic": (368, 22, {"yes": 232, "no": 136}, 1927),
    "housing": (506, 13, {}, 0),
    "housing_medv35": (506, 13, {"medv_above_35": 48, "medv_at_most_35": 458}, 0),
    "coil20": (1440, 1024, dict.fromkeys(range(1, 21), 72), 0),
    "wine": (178, 13, {0: 59, 1: 71, 2: 48}, 0),
    "digits": (1797, 64, dict(enumerate([178, 182, 177, 183, 181, 182, 181, 179, 174, 180])), 0),
}  # fmt: skip


def sonar_rows(n_mines=111, n_rocks=97):
    """Return a header and rows that look like sonar."""
    rng = np.random.default_rng(0)
    header = [f"a{i:02d}" for i in range(1, 61)] + ["target"]
    labels = ["M"] * n_mines + ["R"] * n_rocks
    return header, [[f"{x:.4f}" for x in rng.random(60)] + [label] for label in labels]


def write(path, header, rows):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(",".join(cells) + "\n" for cells in [header, *rows])
    return path
