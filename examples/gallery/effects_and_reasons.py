"""
What drives a prediction: effects and reasons
=============================================

Weights say which columns matter, not in which direction. ``column_effects`` shows how the
probability changes with a column, and ``explain_rows`` says what speaks for the class of a row.
"""

# %%
import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from kernelwise import RelevanceSVC
from kernelwise.app.inspection import ColumnEffectsDisplay, column_effects, explain_rows

data = load_breast_cancer(as_frame=True)
y = data.target.map({0: "malignant", 1: "benign"})
X_train, X_test, y_train, y_test = train_test_split(data.data, y, random_state=0, stratify=y)
model = RelevanceSVC().fit(X_train, y_train)
print(f"{model.score(X_test, y_test):.1%} of held-out rows correct")

# %%
# The probability of a malignant tumour, averaged over 100 training rows, while one column changes.
# The band holds the middle 80 % of the rows: where it is wide, the effect depends on other columns.
effects = column_effects(model, X_train, max_columns=4)
print(pd.DataFrame(effects.table()).round(2))
ColumnEffectsDisplay(effects).plot()

# %%
# Shapley values of one row, against the same 100 training rows. They sum to the decision value of
# the row minus the mean of the training rows.
rows = X_test.iloc[[3]]
found = explain_rows(model, rows, X_train)
reasons = pd.DataFrame(found.table()).head(8)[::-1]
predicted = model.predict(rows)[0]
_, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
colours = ["#0072B2" if value > 0 else "#D55E00" for value in reasons["contribution"]]
ax.barh(reasons["column"] + " = " + reasons["value"], reasons["contribution"], color=colours)
ax.axvline(0, color="black", linewidth=0.8)
ax.set(xlabel="contribution to the log-odds", title=f"Why this row is {predicted}")
