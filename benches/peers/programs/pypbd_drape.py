"""pypbd (InteractiveComputerGraphics/PositionBasedDynamics): XPBD distance constraints on drape-N.

    python pypbd_drape.py --n 316                 the common constraint set, added one by one
    python pypbd_drape.py --n 316 --scene demo    its own cloth set-up: triangle-mesh edges as XPBD distance
                                                  constraints (method 4) + XPBD isometric bending (method 3)

Its parameters: NUM_SUB_STEPS substeps of dt/NUM_SUB_STEPS, MAX_ITERATIONS Gauss-Seidel sweeps in each;
constraints are greedily coloured into groups, a group is an OpenMP loop of virtual calls; stiffness k means
compliance 1/k, and stiffness 0 means compliance 0.
"""
import os
import sys

from drape import DT, Drape, nthreads, parser, run, triangles

p = parser()
p.add_argument("--scene", choices=["same", "demo"], default="same")
a = p.parse_args()
th = nthreads(a)
if os.environ.get("OMP_NUM_THREADS") != str(th):         # libgomp reads it when it is loaded
    os.environ["OMP_NUM_THREADS"] = str(th)
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # spinning threads stall each other on a shared machine
    os.execv(sys.executable, [sys.executable] + sys.argv)

import numpy as np
import pypbd as pbd

cl = Drape(a, want_constraints=a.scene == "same")
n, NP = a.n, a.n * a.n
sim = pbd.Simulation.getCurrent()
sim.initDefault()
model = sim.getModel()
flat = cl.pos.copy()                                     # the rest shape is the grid without the bump
flat[:, 1 if a.init == "flat" else 2] = 0.0

groups = None
if a.scene == "same":
    pd = model.getParticles()
    pd.reserve(NP)
    for q in flat:
        pd.addVertex(q)
else:
    model.addTriangleModel(flat.astype(np.float64), triangles(n).ravel().astype(np.uint32), testMesh=False)
    pd = model.getParticles()
for i in range(NP):
    pd.setMass(i, cl.mass)
for i in cl.pins:
    pd.setMass(i, 0.0)

if a.scene == "same":
    stiff = np.where(cl.compliance > 0, 1.0 / np.maximum(cl.compliance, 1e-30), 0.0)
    for i, j, k in zip(cl.i.tolist(), cl.j.tolist(), stiff.tolist()):
        model.addDistanceConstraint_XPBD(i, j, k)
else:
    tm = model.getTriangleModels()[0]
    model.addClothConstraints(tm, 4, 0.0 if a.a_struct == 0 else 1 / a.a_struct, 1, 1, 1, 0.3, 0.3, False, False)
    model.addBendingConstraints(tm, 3, 50.0)
NC = len(model.getConstraints())
for i, q in enumerate(cl.pos):
    pd.setPosition(i, q)
model.initConstraintGroups()
NG = len(model.getConstraintGroups())

ts = sim.getTimeStep()
ts.setValueUInt(pbd.TimeStepController.NUM_SUB_STEPS, a.substeps)
ts.setValueUInt(pbd.TimeStepController.MAX_ITERATIONS, a.iters)
ts.setValueUInt(pbd.TimeStepController.MAX_ITERATIONS_V, 0)
pbd.TimeManager.getCurrent().setTimeStepSize(DT)


def state():
    return (np.array([pd.getPosition(i) for i in range(NP)]), np.array([pd.getVelocity(i) for i in range(NP)]))


run(a, cl, lambda: ts.step(model), state, peer="pypbd" if a.scene == "same" else "pypbd-demo",
    note=f"pypbd 2.2.2, {'common constraint set' if a.scene == 'same' else 'mesh edges (XPBD) + isometric bending (XPBD)'}"
         f", {NG} groups, virtual call per constraint",
    constraints=NC, projections_per_frame=NC * a.substeps * a.iters, threads=th, extra=dict(groups=NG))
