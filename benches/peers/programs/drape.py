"""drape-N: the common cloth workload, its constraint list, its metrics and the JSON line.

Every Python peer imports this module; xpbd_cpu.c and cuda_xpbd.cu implement the same in C.
../README.md specifies the workload.
"""
from __future__ import annotations

import argparse
import json
import math
import os
import resource
import time

import numpy as np

SIZE, RHO, DT, GRAVITY = 2.0, 0.2, 1.0 / 60.0, -9.81


def parser(kw_a_min: float = 0.0) -> argparse.ArgumentParser:
    p = argparse.ArgumentParser()
    p.add_argument("--n", type=int, default=316)
    p.add_argument("--substeps", type=int, default=20)
    p.add_argument("--iters", type=int, default=1)
    p.add_argument("--frames", type=int, default=120, help="frames in all; quality is read after the last one")
    p.add_argument("--warmup", type=int, default=5, help="leading frames that are simulated but not timed")
    p.add_argument("--threads", type=int, default=0, help="0: every processor this process may use")
    p.add_argument("--init", choices=["hang", "flat"], default="hang")
    p.add_argument("--a-struct", type=float, default=0.0)
    p.add_argument("--a-shear", type=float, default=1e-6)
    p.add_argument("--a-bend", type=float, default=1e-4)
    p.add_argument("--a-min", type=float, default=kw_a_min, help="floor for every compliance, in units of w*h^2")
    return p


def nthreads(a) -> int:
    return a.threads or len(os.sched_getaffinity(0))


class Drape:
    """Positions, inverse masses and the colour-sorted distance constraints of drape-N."""

    def __init__(self, a, want_constraints: bool = True):
        n = self.n = a.n
        self.spacing = s = SIZE / (n - 1)
        self.mass = RHO * SIZE * SIZE / (n * n)
        r, c = np.divmod(np.arange(n * n), n)
        u, v = c / (n - 1), r / (n - 1)
        bump = 0.002 * np.sin(3 * math.pi * u) * np.sin(2 * math.pi * v)
        x = -0.5 * SIZE + c * s
        pos = np.stack([x, bump, r * s], 1) if a.init == "flat" else np.stack([x, -r * s, bump], 1)
        self.pos = pos.astype(np.float32)
        self.invmass = np.full(n * n, 1.0 / self.mass, np.float32)
        self.pins = [0, n - 1]
        self.invmass[self.pins] = 0.0
        self.n_constraints = 2 * n * (n - 1) + 2 * (n - 1) ** 2 + 2 * n * (n - 2)
        if want_constraints:
            self._build(a)

    def _build(self, a):
        n, s = self.n, self.spacing
        self.a_floor = a.a_min * (DT / a.substeps) ** 2 / self.mass      # m/N
        idx = np.arange(n * n, dtype=np.int32).reshape(n, n)
        fam = [  # (first ends, second ends, colour of each, rest length, compliance)
            (idx[:, :-1], idx[:, 1:], np.arange(n - 1)[None, :] & 1, s, a.a_struct),
            (idx[:-1, :], idx[1:, :], np.arange(n - 1)[:, None] & 1, s, a.a_struct),
            (idx[:-1, :-1], idx[1:, 1:], np.arange(n - 1)[:, None] & 1, s * math.sqrt(2), a.a_shear),
            (idx[:-1, 1:], idx[1:, :-1], np.arange(n - 1)[:, None] & 1, s * math.sqrt(2), a.a_shear),
            (idx[:, :-2], idx[:, 2:], (np.arange(n - 2)[None, :] >> 1) & 1, 2 * s, a.a_bend),
            (idx[:-2, :], idx[2:, :], (np.arange(n - 2)[:, None] >> 1) & 1, 2 * s, a.a_bend),
        ]
        I, J, L, A, start = [], [], [], [], [0]
        for first, second, col, rest, comp in fam:
            col = np.broadcast_to(col, first.shape)
            for k in (0, 1):
                m = col == k
                I.append(first[m]); J.append(second[m])
                L.append(np.full(m.sum(), rest)); A.append(np.full(m.sum(), comp))
                start.append(start[-1] + int(m.sum()))
        self.i, self.j = np.concatenate(I), np.concatenate(J)
        self.rest = np.concatenate(L).astype(np.float32)
        self.compliance = np.maximum(np.concatenate(A), self.a_floor)          # m/N
        self.start = start                           # 13 offsets, 12 colours
        assert len(self.i) == self.n_constraints

    def quality(self, pos, vel) -> dict:
        """Structural strain (|l/l0-1| over horizontal and vertical edges), kinetic energy, sag."""
        p = np.asarray(pos, np.float64).reshape(self.n, self.n, 3)
        e = np.concatenate([np.linalg.norm(p[:, 1:] - p[:, :-1], axis=-1).ravel(),
                            np.linalg.norm(p[1:] - p[:-1], axis=-1).ravel()]) / self.spacing - 1.0
        v = np.asarray(vel, np.float64).reshape(-1, 3)
        free = self.invmass > 0
        return dict(mean_strain=float(np.abs(e).mean()), max_strain=float(np.abs(e).max()),
                    mean_signed_strain=float(e.mean()),
                    kinetic_energy=float(0.5 * self.mass * (v[free] ** 2).sum()),
                    lowest_y=float(p[..., 1].min()))


def triangles(n: int) -> np.ndarray:
    """Two triangles per grid cell, all split along the same diagonal."""
    idx = np.arange(n * n, dtype=np.int32).reshape(n, n)
    a, b, c, d = idx[:-1, :-1], idx[:-1, 1:], idx[1:, :-1], idx[1:, 1:]
    return np.stack([np.stack([a, c, b], -1), np.stack([b, c, d], -1)], 2).reshape(-1, 3)


def run(a, cloth: Drape, step_frame, get_state, *, peer: str, note: str, constraints: int,
        projections_per_frame: float, sync=lambda: None, threads: int, extra: dict | None = None) -> None:
    """Simulate a.frames frames, time those after the warm-up, print the JSON line.
    get_state() -> (positions, velocities)."""
    times, user0, late, user_q = [], 0.0, [], 0.0
    for f in range(a.frames):
        if f == a.warmup:
            user0 = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        t0 = time.perf_counter()
        step_frame()
        sync()
        if f >= a.warmup:
            times.append((time.perf_counter() - t0) * 1e3)
        if f + 1 >= 60 and (f + 1) % 5 == 0:             # from 1 s on, every 5th frame
            u = resource.getrusage(resource.RUSAGE_SELF).ru_utime
            late.append(cloth.quality(*get_state()))
            user_q += resource.getrusage(resource.RUSAGE_SELF).ru_utime - u
    user = resource.getrusage(resource.RUSAGE_SELF).ru_utime - user0 - user_q
    t = np.array(times)
    med = float(np.median(t))
    pos, vel = get_state()
    q = cloth.quality(pos, vel) if np.isfinite(np.asarray(pos)).all() else dict(
        mean_strain=None, max_strain=None, mean_signed_strain=None, kinetic_energy=None, lowest_y=None)
    q["mean_strain_late"] = float(np.mean([k["mean_strain"] for k in late])) if late else None
    q["max_strain_late"] = float(np.max([k["max_strain"] for k in late])) if late else None
    q = {k: (v if v is None or math.isfinite(v) else None) for k, v in q.items()}
    out = dict(peer=peer, n=a.n, particles=a.n * a.n, constraints=int(constraints), substeps=a.substeps,
               iterations=a.iters, ms_per_frame_median=round(med, 4), ms_min=round(float(t.min()), 4),
               ms_max=round(float(t.max()), 4), user_ms_per_frame=round(user * 1e3 / len(t), 3),
               projections_per_s=float(f"{projections_per_frame / (med * 1e-3):.4g}"), **q,
               rss_mb=round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1), threads=threads,
               frames=a.frames, init=a.init, a_struct=a.a_struct, a_shear=a.a_shear, a_bend=a.a_bend, a_min_wh2=a.a_min, note=note)
    out.update(extra or {})
    print(json.dumps(out), flush=True)
