"""Opens the files of `supple bake` with USD and, with --blender, with Blender.

usage: exports.py SUPPLE FOLDER [--blender]
"""

import json
import math
import os
import subprocess
import sys

import numpy
from pxr import Usd, UsdGeom, UsdUtils

SUPPLE, FOLDER = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
STEPS, EVERY = 12, 2
SAMPLES = STEPS // EVERY + 1

# A tube with a texture seam along the corners 0 and 4, of quads.
TUBE = """v 3 0 0
v 4 0 0
v 4 0 1
v 3 0 1
v 3 1 0
v 4 1 0
v 4 1 1
v 3 1 1
vt 0 0
vt 0.25 0
vt 0.5 0
vt 0.75 0
vt 1 0
vt 0 1
vt 0.25 1
vt 0.5 1
vt 0.75 1
vt 1 1
f 1/1 2/2 6/7 5/6
f 2/2 3/3 7/8 6/7
f 3/3 4/4 8/9 7/8
f 4/4 1/5 5/10 8/9
"""

SCENE = {
    "version": 1,
    "settings": {"dt": 1 / 48, "substeps": 10},
    "parts": [
        {"cloth_grid": {"name": "flag", "columns": 9, "rows": 7, "pin": ["column 0"]}},
        {"cloth_mesh": {"name": "tube", "mesh": {"obj": "tube.obj"}, "pin": [0]}},
        {"rope": {"name": "cord", "from": [0, 2, 0], "to": [1, 2, 0], "segments": 5, "cord": "hemp", "pin": ["first"]}},
    ],
}
FLAG, TUBE_START, ROPE_START = 63, 63, 71


def bake(*options):
    command = [SUPPLE, "bake", "scene.json", "--frames", str(STEPS), "--every", str(EVERY), "--reference", *options]
    subprocess.run(command, cwd=FOLDER, check=True, stdout=subprocess.DEVNULL)


def validate(stage, path):
    """Runs the checks of usdchecker, in the API of this version of USD."""
    if hasattr(UsdUtils, "ComplianceChecker"):
        checker = UsdUtils.ComplianceChecker()
        checker.CheckCompliance(path)
        errors = checker.GetErrors() + checker.GetFailedChecks()
    else:
        from pxr import UsdValidation

        registry = UsdValidation.ValidationRegistry()
        validators = [registry.GetOrLoadValidatorByName(data.name) for data in registry.GetAllValidatorMetadata()]
        assert len(validators) > 20, validators
        context = UsdValidation.ValidationContext(validators)
        errors = [f"{error.GetName()}: {error.GetMessage()}" for error in context.Validate(stage)]
    assert not errors, f"{path}: {errors}"


def near(a, b, what):
    a, b = numpy.array(a), numpy.array(b)
    assert a.shape == b.shape, f"{what}: {a.shape} and {b.shape}"
    assert numpy.abs(a - b).max() <= 1e-6, f"{what}: differs by {numpy.abs(a - b).max()}"


def check_stage(name, positions, velocities):
    path = os.path.join(FOLDER, name)
    stage = Usd.Stage.Open(path)
    validate(stage, path)
    assert UsdGeom.GetStageUpAxis(stage) == "Y" and UsdGeom.GetStageMetersPerUnit(stage) == 1
    assert stage.GetTimeCodesPerSecond() == 24 and stage.GetDefaultPrim().GetName() == "scene"
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0, SAMPLES - 1)
    flag, tube = (UsdGeom.Mesh(stage.GetPrimAtPath(f"/scene/{part}")) for part in ("flag", "tube"))
    cord = UsdGeom.BasisCurves(stage.GetPrimAtPath("/scene/cord"))
    for prim, start, end in ((flag, 0, FLAG), (tube, TUBE_START, ROPE_START), (cord, ROPE_START, ROPE_START + 6)):
        for sample in range(SAMPLES):
            what = f"{name} {prim.GetPath()} frame {sample}"
            near(prim.GetPointsAttr().Get(sample), positions[sample, start:end], what)
            near(prim.GetVelocitiesAttr().Get(sample), velocities[sample, start:end], what)
            extent = UsdGeom.Boundable(prim).GetExtentAttr().Get(sample)
            assert all(extent[0][axis] <= positions[sample, start:end, axis].min() for axis in range(3)), what
    for mesh, coordinates in ((flag, FLAG), (tube, 10)):
        faces = len(mesh.GetFaceVertexCountsAttr().Get())
        assert UsdGeom.Mesh.ValidateTopology(
            mesh.GetFaceVertexIndicesAttr().Get(), mesh.GetFaceVertexCountsAttr().Get(), len(mesh.GetPointsAttr().Get(0))
        )[0]
        texture = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("st")
        assert texture.GetInterpolation() == "faceVarying" and len(texture.Get()) == coordinates
        assert len(texture.ComputeFlattened()) == 3 * faces
        assert mesh.GetNormalsInterpolation() == "vertex"
        for sample in range(SAMPLES):
            normals = numpy.array(mesh.GetNormalsAttr().Get(sample))
            assert numpy.abs(numpy.linalg.norm(normals, axis=1) - 1).max() < 1e-5
    print(f"USD: {name} has no errors, and its points are those of the array")


def check_blender(positions):
    """Loads a point cache with the modifier Mesh Cache on the mesh that the scene names, and on the exported one."""
    import bpy

    for name, first, count in (("tube.obj", TUBE_START, 8), ("frames/frame_00000.obj", 0, 77)):
        for kind in ("pc2", "mdd"):
            bpy.ops.wm.read_factory_settings(use_empty=True)
            bpy.ops.wm.obj_import(filepath=os.path.join(FOLDER, name))
            (loaded,) = bpy.context.scene.objects
            assert len(loaded.data.vertices) == count, f"{name}: {len(loaded.data.vertices)} vertices"
            assert loaded.data.uv_layers, name
            modifier = loaded.modifiers.new("cache", "MESH_CACHE")
            modifier.cache_format = kind.upper()
            modifier.filepath = os.path.join(FOLDER, f"{'tube' if count == 8 else 'all'}.{kind}")
            for sample in range(SAMPLES):
                bpy.context.scene.frame_set(sample)
                mesh = loaded.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
                points = [tuple(vertex.co) for vertex in mesh.vertices]
                near(points, positions[sample, first : first + count], f"Blender {name} {kind} frame {sample}")
    check_own_mesh(bpy)
    print("Blender: PC2 and MDD move the mesh of the scene and the exported mesh as the array says")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.usd_import(filepath=os.path.join(FOLDER, "all.usda"))
    bpy.context.scene.frame_set(SAMPLES - 1)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    flag = bpy.data.objects["flag"].evaluated_get(depsgraph)
    points = [tuple(vertex.co) for vertex in flag.data.vertices]
    near(points, positions[SAMPLES - 1, :FLAG], "Blender all.usda")
    print("Blender: the USD stage moves")
    check_gltf(bpy)


def check_own_mesh(bpy):
    """A mesh of Blender, z up, that is exported as OBJ with the default axes, moves in its own axes."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=5, y_subdivisions=3, size=2)
    grid = bpy.context.object
    for vertex in grid.data.vertices:
        vertex.co.z = 1 + 0.1 * vertex.co.x
    bpy.ops.wm.obj_export(filepath=os.path.join(FOLDER, "own.obj"))
    scene = {"version": 1, "parts": [{"cloth_mesh": {"name": "own", "mesh": {"obj": "own.obj"}, "pin": [0]}}]}
    with open(os.path.join(FOLDER, "own.json"), "w") as file:
        json.dump(scene, file)
    subprocess.run([SUPPLE, "bake", "own.json", "--reference", "--frames", "20", "--pc2", "own.pc2"], cwd=FOLDER, check=True)
    rest = [tuple(vertex.co) for vertex in grid.data.vertices]
    modifier = grid.modifiers.new("cache", "MESH_CACHE")
    modifier.cache_format, modifier.filepath = "PC2", os.path.join(FOLDER, "own.pc2")
    modifier.forward_axis, modifier.up_axis = "POS_Z", "NEG_Y"
    bpy.context.scene.frame_set(0)
    mesh = grid.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    near([tuple(vertex.co) for vertex in mesh.vertices], rest, "Blender, its own mesh at frame 0")
    bpy.context.scene.frame_set(20)
    mesh = grid.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    lowest = min(vertex.co.z for vertex in mesh.vertices)
    assert lowest < 0.6, f"the mesh falls along z to {lowest} only"


def check_gltf(bpy):
    """A mesh that Blender exports as glTF, with an attribute and seams, is one cloth in the units and axes of supple."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.mesh.primitive_cylinder_add(vertices=12, radius=0.5, depth=2, end_fill_type="NOTHING", location=(3, 2, 1))
    tube = bpy.context.object
    tube.scale = (1, 2, 1)
    uv = tube.data.uv_layers[0].data
    assert len({tuple(round(value, 4) for value in loop.uv) for loop in uv}) > 24, "the tube has no seam"
    pin = tube.data.attributes.new("_PIN", "FLOAT", "POINT")
    for vertex, value in zip(tube.data.vertices, pin.data):
        value.value = 1.0 if vertex.co.z > 0 else 0.0
    path = os.path.join(FOLDER, "tube.glb")
    bpy.ops.export_scene.gltf(filepath=path, export_format="GLB", export_attributes=True)
    scene = {"version": 1, "parts": [{"cloth_mesh": {"name": "tube", "mesh": {"gltf": "tube.glb", "pin_map": "_PIN"}}}]}
    with open(os.path.join(FOLDER, "gltf.json"), "w") as file:
        json.dump(scene, file)
    report = subprocess.run([SUPPLE, "validate", "gltf.json"], cwd=FOLDER, check=True, capture_output=True, text=True)
    assert "particles: 24, 12 of them pinned; triangles: 24" in report.stdout and not report.stderr, report
    subprocess.run([SUPPLE, "bake", "gltf.json", "--reference", "--frames", "0", "--out", "gltf.npy"], cwd=FOLDER, check=True)
    bpy.context.view_layer.update()
    own = [tube.matrix_world @ vertex.co for vertex in tube.data.vertices]
    # Blender has z up.
    expected = sorted((round(v.x, 4), round(v.z, 4), round(-v.y, 4)) for v in own)
    points = numpy.load(os.path.join(FOLDER, "gltf.npy"))[0]
    near(sorted(tuple(round(float(value), 4) for value in point) for point in points), expected, "Blender glTF")
    print("Blender: its glTF is read with pins, in m and y up")


def main():
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, "tube.obj"), "w") as file:
        file.write(TUBE)
    with open(os.path.join(FOLDER, "scene.json"), "w") as file:
        json.dump(SCENE, file)
    bake("--out", "x.npy", "--velocities", "v.npy", "--obj", "frames", "--pc2", "all.pc2", "--mdd", "all.mdd", "--usd", "all.usda")
    bake("--usd", "clips.usda", "--usd-clips")
    bake("--part", "tube", "--pc2", "tube.pc2", "--mdd", "tube.mdd")
    positions, velocities = (numpy.load(os.path.join(FOLDER, name)) for name in ("x.npy", "v.npy"))
    assert positions.shape == (SAMPLES, 77, 3) and numpy.abs(positions[-1] - positions[0]).max() > 0.05
    assert math.isfinite(float(velocities.sum()))
    check_stage("all.usda", positions, velocities)
    check_stage("clips.usda", positions, velocities)
    if "--blender" in sys.argv:
        check_blender(positions)


main()
