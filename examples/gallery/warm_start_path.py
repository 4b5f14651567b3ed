"""
A path over C with warm starts
==============================

``SVC(warm_start=True)`` starts each fit from the previous solution. Along a path of C this saves
most of the steps, and the result is the same within the tolerance.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from kernelwise import SVC

X, digits = load_digits(return_X_y=True)
X, y = StandardScaler().fit_transform(X), digits % 2  # odd or even
path = np.logspace(-1, 3, 25)

# %%
# ``n_iter_`` counts the steps of the solver, ``certificate_`` its distance from the optimum.
warm, warm_steps, difference = SVC(warm_start=True, tol=1e-4), [], []
cold_steps = []
for C in path:
    warm.set_params(C=C).fit(X, y)
    cold = SVC(C=C, tol=1e-4).fit(X, y)
    warm_steps.append(np.sum(warm.n_iter_))
    cold_steps.append(np.sum(cold.n_iter_))
    difference.append(np.abs(warm.decision_function(X) - cold.decision_function(X)).max())
print(f"steps in total: {np.sum(cold_steps)} cold, {np.sum(warm_steps)} warm")
print(f"largest difference of a decision value: {np.max(difference):.1e}")
print(f"violation of the last fit: {np.max(warm.certificate_.violation):.1e}")

_, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
ax.semilogx(path, np.cumsum(cold_steps), marker="s", color="#D55E00", label="cold starts")
ax.semilogx(path, np.cumsum(warm_steps), marker="o", color="#0072B2", label="warm starts")
ax.set(xlabel="C", ylabel="steps of the solver so far", title="Even and odd digits, 1797 rows")
ax.legend(frameon=False)

# %%
# Rows may change as well: they are recognised by their contents. Here 97 new rows arrive.
model = SVC(C=10, warm_start=True).fit(X[:1700], y[:1700])
model.fit(X, y)
print(f"after 97 more rows: {np.sum(model.n_iter_)} steps", end="; ")
print(f"from scratch: {np.sum(SVC(C=10).fit(X, y).n_iter_)}")
