"""Plot the margin, the bound and the leave-one-out error against the width of the kernel.

Cristianini, Campbell and Shawe-Taylor (1998) prove that the margin of a hard-margin machine is a
continuous function of the width. This script draws it on a fine grid of widths, together with the
two criteria by which `AdaptiveKernelSVC` can choose the width.

    python examples/width_path.py [picture.png]
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from kernelwise import AdaptiveKernelSVC

N_WIDTHS = 120


def walk():
    """Return a model with a hard margin (as in the paper) and one with a soft margin."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    widths = np.geomspace(0.3, 12.0, N_WIDTHS)
    hard = AdaptiveKernelSVC(criterion="radius", widths=widths).fit(X, y)
    soft = AdaptiveKernelSVC(criterion="span", widths=widths, C=10.0).fit(X, y)
    return hard, soft


def draw(hard, soft, target):
    """Draw the three curves, and mark the width that each criterion chose."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(3, 1, figsize=(7, 8), sharex=True, layout="constrained")
    sigma = hard.path_["sigma"]
    axes[0].plot(sigma, hard.path_["margin"], ".-", color="#0072B2", ms=3)
    axes[0].set(
        ylabel="margin, hard", title="Breast cancer: margin, bound and error against the width"
    )
    axes[1].plot(sigma, hard.path_["bound"], ".-", color="#D55E00", ms=3)
    axes[1].axvline(hard.sigma_, color="#D55E00", ls=":")
    axes[1].set(ylabel="R² Σα / m, hard", yscale="log")
    axes[2].plot(soft.path_["sigma"], 100 * soft.path_["loo_error"], ".-", color="#009E73", ms=3)
    axes[2].axvline(soft.sigma_, color="#009E73", ls=":")
    axes[2].set(ylabel="leave-one-out error, %, C = 10", xlabel="sigma", xscale="log")
    figure.savefig(target, dpi=120)
    plt.close(figure)


def main():
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output/width_path.png")
    target.parent.mkdir(parents=True, exist_ok=True)
    hard, soft = walk()
    margin = hard.path_["margin"]
    change = np.abs(np.diff(margin)).max()
    print(f"largest change of the margin between neighbouring widths: {change:.4f}")
    print(f"chosen sigma: {hard.sigma_:.3g} by the bound, {soft.sigma_:.3g} by the span estimate")
    draw(hard, soft, target)
    print(f"picture: {target}")


if __name__ == "__main__":
    main()
