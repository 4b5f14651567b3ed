"""PMLB's regression sets with odd numbers: thirty of them helped to choose settings."""

from .table import TableSpec

_ROWS = 5000
# Columns that become known with the target, and columns of codes.
_DROP = {"1193_BNG_lowbwt": "LOW"}
_CATEGORIES = {
    "1193_BNG_lowbwt": "RACE", "1201_BNG_breastTumor": "menopause breast-quad",
    "557_analcatdata_apnea1": "Subject",
}  # fmt: skip
_REAL = (
    "1027_ESL", "1029_LEV", "1089_USCrime", "1193_BNG_lowbwt", "1201_BNG_breastTumor",
    "195_auto_price", "197_cpu_act", "201_pol", "215_2dplanes", "225_puma8NH", "227_cpu_small",
    "229_pwLinear", "485_analcatdata_vehicle", "503_wind", "505_tecator", "519_vinnie",
    "523_analcatdata_neavote", "527_analcatdata_election2000", "529_pollen", "547_no2",
    "557_analcatdata_apnea1", "561_cpu", "659_sleuth_ex1714", "663_rabe_266",
    "665_sleuth_case2002", "687_sleuth_ex1605", "695_chatfield_4",
)  # fmt: skip
# Friedman's functions: collinearity, rows and columns, of which five matter.
_FRIEDMAN = (
    "579_fri_c0_250_5", "581_fri_c3_500_25", "583_fri_c1_1000_50", "589_fri_c2_1000_25",
    "591_fri_c1_100_10", "593_fri_c1_1000_10", "595_fri_c0_1000_10", "597_fri_c2_500_5",
    "599_fri_c2_1000_5", "601_fri_c1_250_5", "603_fri_c0_250_50", "605_fri_c2_250_25",
    "607_fri_c4_1000_50", "609_fri_c0_1000_5", "611_fri_c3_100_5", "613_fri_c3_250_5",
    "615_fri_c4_250_10", "617_fri_c3_500_5", "621_fri_c0_100_10", "623_fri_c4_1000_10",
    "627_fri_c2_500_10", "631_fri_c1_500_5", "633_fri_c0_500_25", "635_fri_c0_250_10",
    "637_fri_c1_500_50", "641_fri_c1_500_10", "643_fri_c2_500_25", "645_fri_c3_500_50",
    "647_fri_c1_250_10", "649_fri_c0_500_5", "651_fri_c0_100_25", "653_fri_c0_250_25",
    "657_fri_c2_250_10",
)  # fmt: skip

PMLB = tuple(
    TableSpec(
        name.partition("_")[2], f"pmlb/{name}", "target", _DROP.get(name, ""),
        _CATEGORIES.get(name, ""), rows=_ROWS, numbers=True,
    )
    for name in (*_REAL, *_FRIEDMAN)
)  # fmt: skip
