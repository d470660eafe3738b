"""Slow float64 NumPy solution of drape-N (small N): the reference that the fast peers are checked against.

    python numpy_drape.py --n 64 --frames 120
"""
import numpy as np

from drape import DT, GRAVITY, Drape, parser, run

a = parser().parse_args()
cl = Drape(a)
h = DT / a.substeps
x = cl.pos.astype(np.float64)
v = np.zeros_like(x)
w = cl.invmass.astype(np.float64)
free = (w > 0)[:, None]


def frame():
    global x, v
    for _ in range(a.substeps):
        v = np.where(free, v + np.array([0, GRAVITY * h, 0]), 0.0)
        prev = x
        x = x + v * h
        lam = np.zeros(cl.n_constraints)
        for _ in range(a.iters):
            for k in range(12):
                s = slice(cl.start[k], cl.start[k + 1])
                i, j = cl.i[s], cl.j[s]
                d = x[i] - x[j]
                ln = np.linalg.norm(d, axis=1)
                at = cl.compliance[s] / (h * h)
                dl = -(ln - cl.rest[s] + at * lam[s]) / (w[i] + w[j] + at)
                lam[s] += dl
                g = d / ln[:, None] * dl[:, None]
                x[i] += w[i][:, None] * g
                x[j] -= w[j][:, None] * g
        v = (x - prev) / h


run(a, cl, frame, lambda: (x, v), peer="numpy-f64", note="float64 reference, coloured Gauss-Seidel XPBD",
    constraints=cl.n_constraints, projections_per_frame=cl.n_constraints * a.substeps * a.iters, threads=1)
