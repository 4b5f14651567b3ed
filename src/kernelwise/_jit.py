"""Options of compiled code."""

# Fast-math flags that never assume infinities away: kernels may overflow and must say so.
FASTMATH = {"contract", "reassoc", "nsz", "arcp"}
