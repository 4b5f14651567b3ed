"""The compiled leaf of the Adatron. Loads numba."""

# mypy: ignore-errors

from numba import njit

from kernelwise._jit import FASTMATH


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def _add(g, row, change):
    """Do g += change * row."""
    for j in range(g.shape[0]):
        g[j] += change * row[j]


@njit(cache=True, nogil=True)
def _violation(b, g, lo, hi, nu):
    """Return the largest residual g + nu that a bound does not hold."""
    worst = 0.0
    for i in range(b.shape[0]):
        if b[i] < hi[i]:
            worst = max(worst, -(g[i] + nu))
        if b[i] > lo[i]:
            worst = max(worst, g[i] + nu)
    return worst


@njit(cache=True, nogil=True)
def sweep(K, b, g, lo, hi, total, nu, rho, eta, tol, max_epochs):
    """Sweep until the conditions of the problem at a multiplier hold.

        min 1/2 b'Kb - p'b + nu (sum b - total) + rho/2 (sum b - total)^2,   lo <= b <= hi

    g = K b - p goes along with b. Returns the number of epochs and whether it converged.
    """
    excess = b.sum() - total
    step = eta / (1 + rho * eta)
    for epoch in range(max_epochs):
        if _violation(b, g, lo, hi, nu + rho * excess) <= tol:
            return epoch, True
        for i in range(b.shape[0]):
            new = min(max(b[i] - step * (g[i] + nu + rho * excess), lo[i]), hi[i])
            change = new - b[i]
            if change != 0:
                b[i] = new
                excess += change
                _add(g, K[i], change)
        excess = b.sum() - total
    return max_epochs, _violation(b, g, lo, hi, nu + rho * excess) <= tol
