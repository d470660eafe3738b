#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets into fuzz/corpus/. glTF seeds are JSON, a zero byte and a binary chunk."""

import base64
import json
import struct
from pathlib import Path

FUZZ = Path(__file__).parent
SCENES = FUZZ.parent / "examples" / "scenes"
FLOAT, BYTE, SHORT = 5126, 5121, 5123
CODES = {FLOAT: "f", BYTE: "B", SHORT: "H"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Gltf:
    """A glTF file under construction."""

    def __init__(self):
        self.bytes = b""
        self.json = {"asset": {"version": "2.0"}, "nodes": [], "meshes": [], "accessors": [], "bufferViews": []}

    def add(self, name, value):
        self.json.setdefault(name, []).append(value)
        return len(self.json[name]) - 1

    def accessor(self, shape, values, code=FLOAT, **more):
        data = struct.pack(f"<{len(values)}{CODES[code]}", *values)
        view = self.add("bufferViews", {"buffer": 0, "byteOffset": len(self.bytes), "byteLength": len(data)})
        self.bytes += data + b"\0" * (-len(data) % 4)
        count = len(values) // WIDTHS[shape]
        return self.add("accessors", {"bufferView": view, "componentType": code, "count": count, "type": shape, **more})

    def seed(self):
        self.json["buffers"] = [{"byteLength": len(self.bytes)}]
        return json.dumps(self.json, separators=(",", ":")).encode() + b"\0" + self.bytes

    def text(self):
        data = base64.b64encode(self.bytes).decode()
        self.json["buffers"] = [{"uri": f"data:application/octet-stream;base64,{data}", "byteLength": len(self.bytes)}]
        return json.dumps(self.json, separators=(",", ":")).encode()


def square():
    file = Gltf()
    attributes = {
        "POSITION": file.accessor("VEC3", [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0]),
        "TEXCOORD_0": file.accessor("VEC2", [0, 0, 1, 0, 1, 1, 0, 1]),
        "_PIN": file.accessor("SCALAR", [0, 0.2, 0.5, 1]),
        "COLOR_0": file.accessor("VEC4", [255, 60, 1, 255] * 4, BYTE, normalized=True),
    }
    indices = file.accessor("SCALAR", [0, 1, 2, 0, 2, 3], SHORT)
    mesh = file.add("meshes", {"primitives": [{"attributes": attributes, "indices": indices}]})
    file.add("nodes", {"name": "cloth", "mesh": mesh, "rotation": [0, 0, 0.6, 0.8], "children": [1]})
    file.add("nodes", {"mesh": mesh, "translation": [0, 0, 2], "scale": [1, 2, -1]})
    file.add("scenes", {"nodes": [0]})
    return file


def solid():
    file = Gltf()
    position = file.accessor("VEC3", [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1])
    indices = file.accessor("SCALAR", [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3], BYTE)
    mesh = file.add("meshes", {"primitives": [{"attributes": {"POSITION": position}, "indices": indices}]})
    file.add("nodes", {"mesh": mesh, "matrix": [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 1, 2, 3, 1]})
    return file


def strip():
    """Two joints, two sets of weights, and an animation of each interpolation."""
    file = Gltf()
    points = [value for k in range(10) for value in (0.2 * (k % 2), 0.5 * (k // 2), 0)]
    corners = [2 * k + corner for k in range(4) for corner in (0, 1, 3, 0, 3, 2)]
    attributes = {
        "POSITION": file.accessor("VEC3", points),
        "NORMAL": file.accessor("VEC3", [0, 0, 1] * 10),
        "JOINTS_0": file.accessor("VEC4", [0, 1, 0, 0] * 10, BYTE),
        "WEIGHTS_0": file.accessor("VEC4", [3, 1, 0, 0] * 10),
        "JOINTS_1": file.accessor("VEC4", [1, 0, 0, 0] * 10, SHORT),
        "WEIGHTS_1": file.accessor("VEC4", [64, 0, 0, 0] * 10, BYTE, normalized=True),
    }
    indices = file.accessor("SCALAR", corners, SHORT)
    mesh = file.add("meshes", {"primitives": [{"attributes": attributes, "indices": indices}]})
    identity = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    binds = file.accessor("MAT4", identity + identity[:13] + [-1, 0, 1])
    for node in (
        {"name": "root", "children": [1, 3]},
        {"name": "lower", "children": [2]},
        {"name": "upper", "translation": [0, 1, 0]},
        {"name": "strip", "mesh": mesh, "skin": 0},
    ):
        file.add("nodes", node)
    file.add("scenes", {"nodes": [0]})
    file.add("skins", {"joints": [1, 2], "inverseBindMatrices": binds})
    times = file.accessor("SCALAR", [0, 1])
    values = {
        ("LINEAR", "rotation"): file.accessor("VEC4", [0, 0, 0, 1, 0, 0, 0.6, 0.8]),
        ("STEP", "translation"): file.accessor("VEC3", [0, 1, 0, 0, 2, 0]),
        ("CUBICSPLINE", "scale"): file.accessor("VEC3", [0, 0, 0, 1, 1, 1, 0, 0, 0] * 2),
    }
    for (interpolation, path), output in values.items():
        sampler = {"input": times, "output": output, "interpolation": interpolation}
        channel = {"sampler": 0, "target": {"node": 2, "path": path}}
        file.add("animations", {"channels": [channel], "samplers": [sampler]})
    return file


OBJ = {
    "tetrahedron": "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
    "seam": "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 2/2/1 3/3 4/4\n",
    "concave": "o arrow # a dart\nv 0 0 0\nv 2 0 0.01\nv 1 0.5 0\nv 1 3 0\nv 0.5 1 0\nf -5 -4 -3 \\\n-2 -1\n",
}


def main():
    def write(target, name, data):
        folder = FUZZ / "corpus" / target
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)

    for name, file in {"square": square, "solid": solid, "strip": strip}.items():
        for target in ("gltf", "character"):
            write(target, f"{name}.seed", file().seed())
            write(target, f"{name}.gltf", file().text())
    for name, text in OBJ.items():
        write("obj", f"{name}.obj", text.encode())
    for path in SCENES.glob("**/*.obj"):
        if path.stat().st_size < 20_000:
            write("obj", path.name, path.read_bytes())
    for path in SCENES.glob("*.json"):
        write("scene_file", path.name, path.read_bytes())


if __name__ == "__main__":
    main()
