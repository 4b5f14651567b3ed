"""Tables with a numeric target: PMLB's sets with odd numbers, and scikit-learn's."""

from .table import TableSpec

_ROWS = 4000
# Columns that become known with the target, and columns of codes.
_DROP = {"1193_BNG_lowbwt": "LOW"}
_CATEGORIES = {
    "1193_BNG_lowbwt": "RACE", "1201_BNG_breastTumor": "menopause breast-quad",
    "557_analcatdata_apnea1": "Subject",
}  # fmt: skip
_NAMES = (
    "1027_ESL", "1029_LEV", "1089_USCrime", "1193_BNG_lowbwt", "1201_BNG_breastTumor",
    "195_auto_price", "197_cpu_act", "201_pol", "225_puma8NH", "229_pwLinear", "503_wind",
    "505_tecator", "519_vinnie", "523_analcatdata_neavote", "527_analcatdata_election2000",
    "529_pollen", "547_no2", "557_analcatdata_apnea1", "561_cpu", "659_sleuth_ex1714",
    "663_rabe_266", "665_sleuth_case2002", "687_sleuth_ex1605", "695_chatfield_4",
    "583_fri_c1_1000_50", "597_fri_c2_500_5", "581_fri_c3_500_25", "603_fri_c0_250_50",
    "615_fri_c4_250_10", "651_fri_c0_100_25",
)  # fmt: skip

NUMBERS = (
    TableSpec("diabetes", "scikit-learn/diabetes", "target", numbers=True),
    *(
        TableSpec(
            name.partition("_")[2], f"pmlb/{name}", "target", _DROP.get(name, ""),
            _CATEGORIES.get(name, ""), rows=_ROWS, numbers=True,
        )
        for name in _NAMES
    ),
)  # fmt: skip
