"""Compares Blender's poses of a character with those of `marionette pose`.

    python3.11 -m pip install bpy==4.5.15      # Blender as a module, for Python 3.11; 1 GB
    python3.11 tests/blender/compare.py MARIONETTE MODEL [ANIM...]

A .glb or .gltf is imported in Blender as it is. Any other character is converted to .glb first, and so is a .glb with
`--export`. Blender then evaluates the scene at rest and in each clip (`--clips 3` takes the first, the middle and the
last one), and all vertices must lie within 1e-4 of the character's size, at rest and when posed:

* Of a file that we wrote, every corner of every triangle, at five times of the clip, at and between keys: we write as
  many keys as keep Blender close.
* Of any other file, where Blender splits and orders vertices in its own way, every vertex to the nearest one of the
  other side, both ways; at five keys of the clip. Between keys, the specification turns joints along the arc, and
  Blender along the chord, so the distance there is printed, but may be larger. `cargo test --test core gltf_files`
  compares those times with the specification's formulas.

Exits with 1 if a vertex is too far off, and with 2 if Blender is missing. `.ci/blender` runs this for the sample
characters.
"""

import argparse
import base64
import json
import logging
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote

try:
    import bpy
    import numpy
    from mathutils.kdtree import KDTree
except ImportError as missing:
    print(
        f"NOTHING WAS COMPARED: {missing}. Install Blender as a module, for Python 3.11:\n"
        "    python3.11 -m pip install bpy==4.5.15",
        file=sys.stderr,
    )
    sys.exit(2)

ALLOWED = 1e-4
# What the importer says about its progress.
logging.disable(logging.INFO)


def run(*args):
    done = subprocess.run([str(a) for a in args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, args))}:\n{done.stderr.decode()}")
    return done.stdout


class Gltf:
    """The document of a .glb or .gltf, and what follows it."""

    def __init__(self, path):
        self.path = Path(path)
        data = self.path.read_bytes()
        self.rest = b""
        if data[:4] == b"glTF":
            end = 20 + struct.unpack_from("<I", data, 12)[0]
            self.document, self.rest = json.loads(data[20:end]), data[end:]
        else:
            self.document = json.loads(data)

    def without_animations(self, folder):
        """Writes a copy that only has the rest pose, and returns its path."""
        left_out = ("animations", "images", "textures")
        document = {key: value for key, value in self.document.items() if key not in left_out}
        document["materials"] = [{"name": material.get("name", "")} for material in document.get("materials", [])]
        document["buffers"] = [dict(buffer) for buffer in document.get("buffers", [])]
        for buffer in document["buffers"]:
            if not buffer.get("uri", "data:").startswith("data:"):
                buffer["uri"] = self.beside(buffer["uri"]).as_posix()
        text = json.dumps(document).encode()
        if not self.rest:
            to = folder / "rest.gltf"
            to.write_bytes(text)
            return to
        to = folder / "rest.glb"
        text += b" " * (-len(text) % 4)
        header = struct.pack("<4sIII4s", b"glTF", 2, 20 + len(text) + len(self.rest), len(text), b"JSON")
        to.write_bytes(header + text + self.rest)
        return to

    def times(self, animation):
        """The times that all moving channels have a key at, and the end."""
        inputs = {sampler["input"] for sampler in animation["samplers"]}
        keys = [self.floats(self.document["accessors"][index]) for index in inputs]
        end = max(times[-1] for times in keys)
        shared = set.intersection(*(set(times) for times in keys if len(times) > 1), set(max(keys, key=len)))
        return sorted(shared), end

    def beside(self, uri):
        return self.path.resolve().parent / unquote(uri)

    def floats(self, accessor):
        view = self.document["bufferViews"][accessor["bufferView"]]
        uri = self.document["buffers"][view["buffer"]].get("uri")
        if uri is None:
            data = self.rest[8:]
        elif uri.startswith("data:"):
            data = base64.b64decode(uri.partition(",")[2])
        else:
            data = self.beside(uri).read_bytes()
        return numpy.frombuffer(
            data, numpy.float32, accessor["count"], view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        ).tolist()


class Scene:
    """A file in Blender."""

    def __init__(self, path):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.ops.import_scene.gltf(filepath=str(path), loglevel=50, disable_bone_shape=True)
        self.scene = bpy.context.scene
        self.rate = self.scene.render.fps / self.scene.render.fps_base
        self.objects = list(self.scene.objects)
        self.bones = [bone for o in self.objects if o.type == "ARMATURE" for bone in o.pose.bones]
        # One strip per clip and object that moves in it.
        self.strips = {}
        for object in self.objects:
            for track in object.animation_data.nla_tracks if object.animation_data else []:
                track.mute = True
                self.strips.setdefault(track.name, {})[object.name] = track.strips[0]

    def rest(self):
        """How objects and bones rest, by name. Only what has no animations is at rest."""
        objects = {object.name: object.matrix_basis.copy() for object in self.objects}
        return objects, {(bone.id_data.name, bone.name): bone.matrix_basis.copy() for bone in self.bones}

    def play(self, clip, rest):
        objects, bones = rest
        for object in self.objects:
            object.matrix_basis = objects[object.name]
            strip = self.strips[clip].get(object.name)
            if object.animation_data:
                object.animation_data.action = strip and strip.action
            if strip:
                object.animation_data.action_slot = strip.action_slot
        for bone in self.bones:
            bone.matrix_basis = bones[bone.id_data.name, bone.name]

    def at(self, time):
        frame = time * self.rate
        self.scene.frame_set(int(frame), subframe=frame % 1)

    def corners(self):
        """The corners of each mesh's triangles as posed, in the axes of this crate."""
        graph = bpy.context.evaluated_depsgraph_get()
        meshes = {}
        for object in self.objects:
            if object.type != "MESH":
                continue
            evaluated = object.evaluated_get(graph)
            mesh = evaluated.to_mesh()
            positions = numpy.empty(3 * len(mesh.vertices))
            mesh.vertices.foreach_get("co", positions)
            corners = numpy.empty(len(mesh.loops), dtype=numpy.int32)
            mesh.loops.foreach_get("vertex_index", corners)
            matrix = numpy.array(evaluated.matrix_world)
            world = positions.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
            # Blender has Z up and its front at -Y.
            meshes[object.name] = numpy.stack([-world[:, 0], world[:, 2], world[:, 1]], axis=1)[corners]
            evaluated.to_mesh_clear()
        return meshes


def corners_of_obj(text):
    """The corners of each part's triangles."""
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


def corner_by_corner(ours, theirs):
    """The largest distance between corners of the same number in parts of the same name."""
    for name, positions in ours.items():
        assert positions.shape == theirs[name].shape, f"{name}: {positions.shape} {theirs[name].shape}"
    return max(numpy.linalg.norm(positions - theirs[name], axis=1).max() for name, positions in ours.items())


def nearest(ours, theirs):
    """The largest distance from a vertex to the nearest of the other side."""
    largest = 0.0
    sides = [numpy.unique(numpy.concatenate(list(side.values())), axis=0) for side in (ours, theirs)]
    for here, there in (sides, sides[::-1]):
        tree = KDTree(len(there))
        for at, point in enumerate(there):
            tree.insert(point, at)
        tree.balance()
        largest = max(largest, max(tree.find(point)[2] for point in here))
    return largest


def compare(marionette, inputs, clips, export, folder):
    is_ours = export or inputs[0].suffix.lower() not in (".glb", ".gltf")
    file, distance = inputs[0], nearest
    if is_ours:
        file, distance = folder / "exported.glb", corner_by_corner
        run(marionette, "convert", *inputs, "-o", file)
    document = Gltf(file)
    scene = Scene(document.without_animations(folder))

    def error(*pose):
        ours = corners_of_obj(run(marionette, "pose", *inputs, *pose, "-o", "-"))
        points = numpy.concatenate(list(ours.values()))
        size = numpy.linalg.norm(points.max(axis=0) - points.min(axis=0))
        return distance(ours, scene.corners()) / size

    too_far = []

    def check(what, *pose):
        found = error(*pose)
        if not found < ALLOWED:
            too_far.append(f"{inputs[0]}: {what}: {found:.1e} of the size")
        return found

    rest = scene.rest()
    worst, between = check("at rest", "--bind"), 0.0
    scene = Scene(file)
    # Those without a name get different ones.
    animations = [clip for clip in document.document.get("animations", []) if clip.get("name") in scene.strips]
    if clips and len(animations) > clips:
        last = len(animations) - 1
        animations = [animations[round(last * at / max(clips - 1, 1))] for at in range(clips)]
    for animation in animations:
        clip = animation["name"]
        keys, end = document.times(animation)
        scene.play(clip, rest)
        shares = (0.0, 0.137, 0.5, 0.861, 1.0)
        if is_ours:
            # In single precision, the last key may be a little later than the clip's end.
            times = [share * end * (1 - 1e-7) for share in shares]
        else:
            times = [keys[round(share * (len(keys) - 1))] for share in shares] if keys else []
            for share in shares:
                scene.at(share * end)
                between = max(between, error("--clip", clip, "--time", repr(share * end)))
        for time in times:
            scene.at(time)
            worst = max(worst, check(f"clip {clip} at {time} s", "--clip", clip, "--time", repr(time)))
    others = "" if is_ours else f" at keys, {between:.1e} between"
    print(f"{inputs[0]}: {len(animations)} clips, {worst:.1e} of the size{others}", flush=True)
    return too_far


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("marionette", help="the command-line tool")
    arguments.add_argument(
        "inputs", metavar="MODEL [ANIM]", type=Path, nargs="+", help="a character, and files with clips for it"
    )
    arguments.add_argument("--clips", type=int, default=0, help="how many clips to compare [default: all]")
    arguments.add_argument("--export", action="store_true", help="compare what a .glb or .gltf is exported as")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        failed = compare(given.marionette, given.inputs, given.clips, given.export, Path(folder))
    if failed:
        sys.exit("\n".join(failed))
