"""
Words and missing values, as they are
=====================================

``RelevanceSVC`` reads a data frame with numbers, words and gaps. A category is one column with one
weight, however many values it has, so that a meaningless category of many values does not win.
"""

# %%
# In this made-up table ``age`` and ``ward`` decide, ``town`` and ``noise`` say nothing, and some
# ages are missing.
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from kernelwise import RelevanceSVC

rng = np.random.default_rng(0)
n = 600
table = pd.DataFrame(
    {
        "age": rng.normal(50, 10, n).round(),
        "ward": rng.choice(["north", "south", "east", "west"], n),
        "town": rng.choice([f"town {k}" for k in range(40)], n),
        "noise": rng.normal(size=n),
    }
)
risk = table["age"] + 15 * table["ward"].isin(["north", "east"]) + rng.normal(0, 4, n)
ill = (risk > 58).to_numpy()
table.loc[rng.random(n) < 0.1, "age"] = np.nan

# %%
# The same rows for a random forest, with one column per word and the median for gaps.
train, test = np.arange(n) < 400, np.arange(n) >= 400
model = RelevanceSVC().fit(table[train], ill[train])
encode = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["ward", "town"]),
    (SimpleImputer(strategy="median"), ["age", "noise"]),
    verbose_feature_names_out=False,
)
forest = make_pipeline(encode, RandomForestClassifier(300, random_state=0))
forest.fit(table[train], ill[train])
print(f"RelevanceSVC():         {model.score(table[test], ill[test]):.1%}")
print(f"random forest, encoded: {forest.score(table[test], ill[test]):.1%}")

# %%
# Importances by column of the table. The forest's are summed over the columns made of each.
sources = [name.split("_")[0] for name in forest[0].get_feature_names_out()]
shares = pd.DataFrame(
    {
        "RelevanceSVC()": pd.Series(model.feature_importances_, table.columns),
        "random forest": pd.Series(forest[-1].feature_importances_).groupby(sources).sum(),
    }
).loc[table.columns]
ax = shares.plot.barh(color=["#0072B2", "#E69F00"], figsize=(7, 3.2))
ax.invert_yaxis()
ax.set(xlabel="share of the importance", title="40 towns that say nothing")
ax.figure.set_layout_engine("constrained")

# %%
# Words that were not in the training rows, and new gaps, are no error.
new = pd.DataFrame(
    {"age": [81.0, None], "ward": ["north", "south"], "town": ["a new one", None], "noise": [0, 0]}
)
print(model.predict_proba(new).round(2))
