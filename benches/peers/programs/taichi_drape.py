"""taichi: coloured Gauss-Seidel XPBD as a user would write it, all colours of a substep in one kernel.

    python taichi_drape.py --n 316            (CPU)     --arch cuda | vulkan
"""
import os

os.environ.setdefault("TI_LOG_LEVEL", "error")
import numpy as np
import taichi as ti

from drape import DT, GRAVITY, Drape, nthreads, parser, run

p = parser()
p.add_argument("--arch", default="cpu", choices=["cpu", "cuda", "vulkan"])
p.add_argument("--block-dim", type=int, default=0)
a = p.parse_args()
th = nthreads(a)
ti.init(arch=getattr(ti, a.arch), cpu_max_num_threads=th, default_fp=ti.f32, fast_math=True, offline_cache=False)
if ti.lang.impl.current_cfg().arch != getattr(ti, a.arch) and a.arch != "cpu":
    raise SystemExit(f"taichi has no {a.arch} here")                       # taichi would silently use the CPU

cl = Drape(a)
NP, NC = a.n * a.n, cl.n_constraints
H = DT / a.substeps
START = cl.start
ITERS = a.iters
f4 = ti.types.vector(4, ti.f32)
f3 = ti.types.vector(3, ti.f32)
x = ti.field(f4, NP)                 # xyz + inverse mass
prev = ti.field(f3, NP)
vel = ti.field(f3, NP)
ij = ti.field(ti.types.vector(2, ti.i32), NC)
la = ti.field(ti.types.vector(2, ti.f32), NC)     # rest length, compliance / h^2
lam = ti.field(ti.f32, NC if ITERS > 1 else 1)


@ti.func
def project(k, first: ti.template()):
    i, j = ij[k][0], ij[k][1]
    xi, xj = x[i], x[j]
    d = f3(xi[0] - xj[0], xi[1] - xj[1], xi[2] - xj[2])
    ln = d.norm() + 1e-12
    c = ln - la[k][0]
    at = la[k][1]
    if ti.static(ITERS > 1):
        if ti.static(first):
            lam[k] = 0.0
        c += at * lam[k]
    dl = c / (xi[3] + xj[3] + at)
    if ti.static(ITERS > 1):
        lam[k] -= dl
    g = d * (dl / ln)
    x[i] = f4(xi[0] - xi[3] * g[0], xi[1] - xi[3] * g[1], xi[2] - xi[3] * g[2], xi[3])
    x[j] = f4(xj[0] + xj[3] * g[0], xj[1] + xj[3] * g[1], xj[2] + xj[3] * g[2], xj[3])


@ti.kernel
def substep():
    for i in range(NP):
        if x[i][3] > 0:
            vel[i][1] += GRAVITY * H
            q = f3(x[i][0], x[i][1], x[i][2])
            prev[i] = q
            q += vel[i] * H
            x[i] = f4(q[0], q[1], q[2], x[i][3])
    for it in ti.static(range(ITERS)):
        for c in ti.static(range(12)):
            for k in range(START[c], START[c + 1]):
                project(k, it == 0)
    for i in range(NP):
        if x[i][3] > 0:
            vel[i] = (f3(x[i][0], x[i][1], x[i][2]) - prev[i]) / H


x.from_numpy(np.concatenate([cl.pos, cl.invmass[:, None]], 1).astype(np.float32))
ij.from_numpy(np.stack([cl.i, cl.j], 1).astype(np.int32))
la.from_numpy(np.stack([cl.rest, cl.compliance / H**2], 1).astype(np.float32))


def frame():
    for _ in range(a.substeps):
        substep()


run(a, cl, frame, lambda: (x.to_numpy()[:, :3], vel.to_numpy()), peer=f"taichi-{a.arch}", sync=ti.sync,
    note=f"taichi {ti.__version__[0]}.{ti.__version__[1]}.{ti.__version__[2]}, coloured Gauss-Seidel XPBD, 12 colours, f32, one kernel call per substep",
    constraints=NC, projections_per_frame=NC * a.substeps * a.iters, threads=th)
