"""Compares Blender's poses of an exported .glb with those of `marionette pose`.

    pip install bpy==4.5.15                    # Blender as a module, for Python 3.11
    python3.11 tests/blender/compare.py MARIONETTE MODEL [ANIM...]

Converts the character to .glb, imports it in Blender, and evaluates its armature at rest and at five times of each clip.
Every corner of every triangle must be within 1e-4 of the character's size. `.ci/blender` runs this for the sample
characters.
"""

import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import bpy
import numpy

ALLOWED = 1e-4


def run(*args):
    return subprocess.run([str(a) for a in args], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout


def read(glb):
    """The document of a .glb, and what follows it."""
    data = Path(glb).read_bytes()
    end = 20 + struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20:end]), data[end:]


def without_animations(glb, to):
    """Writes a copy that only has the rest pose."""
    document, rest = read(glb)
    document.pop("animations", None)
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    header = struct.pack("<4sIII4s", b"glTF", 2, 20 + len(text) + len(rest), len(text), b"JSON")
    Path(to).write_bytes(header + text + rest)


def animations(glb):
    """Names and lengths of a file's animations."""
    document, _ = read(glb)
    accessors = document["accessors"]
    found = []
    for animation in document.get("animations", []):
        inputs = [accessors[sampler["input"]]["max"][0] for sampler in animation["samplers"]]
        found.append((animation["name"], max(inputs)))
    return found


def import_in_blender(glb):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=str(glb), loglevel=50)
    return next(object for object in bpy.data.objects if object.type == "ARMATURE")


def corners_of_obj(text):
    """Per part, the positions of its triangles' corners."""
    vertices, parts, name = [], {}, None
    for line in text.decode().splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "v":
            vertices.append([float(number) for number in rest.split()])
        elif kind == "g":
            name = rest
        elif kind == "f":
            parts.setdefault(name, []).extend(int(corner.split("/")[0]) - 1 for corner in rest.split())
    vertices = numpy.array(vertices)
    return {name: vertices[corners] for name, corners in parts.items()}


def corners_of_blender(names):
    """The same for the meshes as Blender poses them, in the axes of this crate."""
    graph = bpy.context.evaluated_depsgraph_get()
    parts = {}
    for name in names:
        object = bpy.data.objects[name].evaluated_get(graph)
        mesh = object.to_mesh()
        positions = numpy.empty(3 * len(mesh.vertices))
        mesh.vertices.foreach_get("co", positions)
        corners = numpy.empty(len(mesh.loops), dtype=numpy.int32)
        mesh.loops.foreach_get("vertex_index", corners)
        matrix = numpy.array(object.matrix_world)
        world = positions.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
        # Blender has Z up and its front at -Y.
        parts[name] = numpy.stack([-world[:, 0], world[:, 2], world[:, 1]], axis=1)[corners]
        object.to_mesh_clear()
    return parts


def error(ours, theirs):
    """The largest distance between corners, over the size of the whole."""
    everything = numpy.concatenate(list(ours.values()))
    size = numpy.linalg.norm(everything.max(axis=0) - everything.min(axis=0))
    largest = 0.0
    for name, positions in ours.items():
        assert positions.shape == theirs[name].shape, f"{name}: {positions.shape} {theirs[name].shape}"
        largest = max(largest, numpy.linalg.norm(positions - theirs[name], axis=1).max() / size)
    return largest


def compare(marionette, inputs, glb):
    run(marionette, "convert", *inputs, "-o", glb)
    still = glb.with_name("rest.glb")
    without_animations(glb, still)
    armature = import_in_blender(still)
    rest = {bone.name: bone.matrix_basis.copy() for bone in armature.pose.bones}
    ours = corners_of_obj(run(marionette, "pose", *inputs, "--bind", "-o", "-"))
    worst = error(ours, corners_of_blender(ours))
    assert worst < ALLOWED, f"at rest: {worst:.1e} of the size"

    armature = import_in_blender(glb)
    scene = bpy.context.scene
    rate = scene.render.fps / scene.render.fps_base
    # One strip per clip.
    tracks = armature.animation_data.nla_tracks if armature.animation_data else []
    strips = {track.name: track.strips[0] for track in tracks}
    for track in tracks:
        track.mute = True
    clips = animations(glb)
    for clip, length in clips:
        for bone in armature.pose.bones:
            bone.matrix_basis = rest[bone.name]
        armature.animation_data.action = strips[clip].action
        armature.animation_data.action_slot = strips[clip].action_slot
        for share in (0.0, 0.137, 0.5, 0.861, 1.0):
            # In single precision, the last key may be a little later than the clip's end.
            time = share * length * (1 - 1e-7)
            scene.frame_set(int(time * rate), subframe=time * rate % 1)
            ours = corners_of_obj(run(marionette, "pose", *inputs, "--clip", clip, "--time", repr(time), "-o", "-"))
            found = error(ours, corners_of_blender(ours))
            assert found < ALLOWED, f"clip {clip} at {time} s: {found:.1e} of the size"
            worst = max(worst, found)
    print(f"{inputs[0]}: {len(clips)} clips, {worst:.1e} of the size", flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        compare(sys.argv[1], [Path(path) for path in sys.argv[2:]], Path(folder) / "exported.glb")
