"""
Take a model elsewhere: file, ONNX graph, scikit-learn
======================================================

A fitted model can be saved to a file that runs no code when it is loaded, exported as an ONNX graph
for programs that do not run Python, or turned into plain scikit-learn objects.
"""

# %%
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import kernelwise
from kernelwise import DualObjectiveSVC, RelevanceSVC
from kernelwise.app.io import describe, save_onnx

X, y = load_breast_cancer(return_X_y=True)
model = RelevanceSVC().fit(X[:400], y[:400])

# %%
# Write a model file and an ONNX graph, and read them again.
with TemporaryDirectory() as folder:
    file, graph = Path(folder, "cancer.kw"), Path(folder, "cancer.onnx")
    kernelwise.save(model, file, summary={"accuracy": model.score(X[400:], y[400:])})
    save_onnx(model, graph)
    print({name: describe(file)[name] for name in ("class", "summary")})
    for each in (file, graph):
        print(f"{each.name}: {each.stat().st_size / 1000:.0f} kB")
    restored = kernelwise.load(file)
    session = onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])

# %%
# The graph returns labels, decision values and probabilities.
label, decision, probability = session.run(None, {"X": X[400:]})
expected = model.predict_proba(X[400:])[:, 1]
print("model file:", np.abs(restored.predict_proba(X[400:])[:, 1] - expected).max())
print(f"ONNX graph: {np.abs(probability[:, 1] - expected).max():.1e}")

_, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot([0, 1], [0, 1], color="gray", linestyle=":")
left.plot(expected, probability[:, 1], "o", color="#0072B2", markersize=4)
left.set(xlabel="predict_proba in Python", ylabel="ONNX runtime", title="Probabilities agree")
right.hist(np.log10(np.abs(decision - model.decision_function(X[400:])) + 1e-17), color="#0072B2")
right.set(xlabel="log10 of the difference of decision values", ylabel="rows", title="to rounding")

# %%
# A machine whose kernel scikit-learn has is also a plain pipeline of scikit-learn, with the learned
# weights as a step in front of it.
learned = DualObjectiveSVC().fit(StandardScaler().fit_transform(X[:400]), y[:400])
plain = learned.to_sklearn()
scaled = StandardScaler().fit_transform(X)
print(type(plain).__name__, (plain.predict(scaled) == learned.predict(scaled)).all())
