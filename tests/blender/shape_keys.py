"""Makes FBX files with shape keys, and glTF files of the same scenes, for tests/core/fbx_files/real.rs:

    python3.11 tests/blender/shape_keys.py FOLDER
    MARIONETTE_FBX_FILES=FOLDER cargo test --test core real_files -- --nocapture

`bpy` is Blender as a Python module. FBX files are written at Blender's frames, without leaving out any; so are those of glTF, which
keeps shape keys relative to the basis, as FBX does.
"""

import random
import sys
from math import radians
from pathlib import Path

import bpy

FRAMES = 24


def mesh(name, size, count, materials):
    """A grid of `count` by `count` squares, bent, with a material for each column in turn."""
    points = [
        (size * (x / count - 0.5), 0.1 * size * ((x * y) % 3), size * (y / count))
        for y in range(count + 1)
        for x in range(count + 1)
    ]
    row = count + 1
    faces = [
        (y * row + x, y * row + x + 1, (y + 1) * row + x + 1, (y + 1) * row + x)
        for y in range(count)
        for x in range(count)
    ]
    data = bpy.data.meshes.new(name)
    data.from_pydata(points, [], faces)
    for material in materials:
        data.materials.append(material)
    for at, polygon in enumerate(data.polygons):
        polygon.material_index = at % max(1, len(materials))
        polygon.use_smooth = True
    body = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(body)
    return body


def shape_keys(body, names, seed, rest=()):
    """Adds shape keys that move some vertices anywhere."""
    rng = random.Random(seed)
    body.shape_key_add(name="Basis", from_mix=False)
    for name in names:
        key = body.shape_key_add(name=name, from_mix=False)
        key.slider_min, key.slider_max = -1.0, 2.0
        for point in key.data:
            if rng.random() < 0.6:
                point.co = [x + rng.uniform(-0.2, 0.2) for x in point.co]
    for name, value in rest:
        body.data.shape_keys.key_blocks[name].value = value


def keyed(body, name, keys, kind):
    """Keys the value of a shape key at frames."""
    block = body.data.shape_keys.key_blocks[name]
    for frame, value in keys:
        block.value = value
        block.keyframe_insert("value", frame=frame)
    action = body.data.shape_keys.animation_data.action
    curves = getattr(action, "fcurves", None)
    if curves is None:
        curves = action.layers[0].strips[0].channelbag(action.slots[0]).fcurves
    for curve in curves:
        if name in curve.data_path:
            for key in curve.keyframe_points:
                key.interpolation = kind


def armature(body):
    """Two bones that move a body."""
    data = bpy.data.armatures.new("rig")
    rig = bpy.data.objects.new("rig", data)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    low = data.edit_bones.new("low")
    low.head, low.tail = (0, 0, 0), (0, 0, 1)
    high = data.edit_bones.new("high")
    high.head, high.tail, high.parent = (0, 0, 1), (0, 0, 2), low
    bpy.ops.object.mode_set(mode="OBJECT")
    body.parent = rig
    body.modifiers.new("Armature", "ARMATURE").object = rig
    groups = [body.vertex_groups.new(name=name) for name in ("low", "high")]
    for vertex in body.data.vertices:
        share = min(1.0, max(0.0, vertex.co.z / 2.0))
        groups[0].add([vertex.index], 1.0 - share, "REPLACE")
        groups[1].add([vertex.index], share, "REPLACE")
    bone = rig.pose.bones["high"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0), (13, 70), (FRAMES + 1, -20)):
        bone.rotation_euler = (radians(angle), 0, 0)
        bone.keyframe_insert("rotation_euler", frame=frame)
    return rig


def save(folder, name):
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, FRAMES + 1, 24
    scene.frame_set(1)
    bpy.ops.export_scene.fbx(
        filepath=str(folder / f"{name}.fbx"),
        add_leaf_bones=False,
        bake_anim=True,
        bake_anim_use_all_actions=False,
        bake_anim_use_nla_strips=False,
        bake_anim_simplify_factor=0.0,
    )
    bpy.ops.export_scene.gltf(
        filepath=str(folder / f"{name}.glb"),
        export_format="GLB",
        export_animation_mode="SCENE",
        export_anim_scene_split_object=False,
        export_force_sampling=True,
        export_optimize_animation_size=False,
    )


def start():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    return [bpy.data.materials.new(name) for name in ("skin", "lips")]


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    materials = start()
    body = mesh("face", 2.0, 6, materials)
    shape_keys(body, ("smile", "jawOpen", "browUp"), 1, [("browUp", 0.5)])
    armature(body)
    keyed(body, "smile", ((1, 0.0), (9, 1.0), (FRAMES + 1, 0.25)), "LINEAR")
    keyed(body, "jawOpen", ((1, -0.5), (7, 1.5), (20, 0.0)), "BEZIER")
    save(folder, "skinned")

    # Without a skin, on a node that is turned, scaled, and moved; and a second mesh with a name in common.
    materials = start()
    body = mesh("mask", 1.0, 4, materials[:1])
    body.rotation_euler, body.scale, body.location = (0.3, -0.7, 1.1), (1.0, 2.0, 0.5), (3, 1, 0)
    shape_keys(body, ("smile", "jawOpen"), 2, [("jawOpen", 0.75)])
    keyed(body, "smile", ((1, 0.0), (13, 1.0), (FRAMES + 1, 0.0)), "CONSTANT")
    other = mesh("teeth", 0.5, 3, [])
    shape_keys(other, ("jawOpen", "show"), 3, [("jawOpen", 0.75)])
    keyed(other, "show", ((1, 1.0), (FRAMES + 1, 0.0)), "BEZIER")
    save(folder, "rigid")

    # Weights at rest, and nothing that moves.
    materials = start()
    body = mesh("still", 1.0, 5, materials)
    shape_keys(body, ("one", "two"), 4, [("one", 0.4), ("two", -0.5)])
    save(folder, "still")


if __name__ == "__main__":
    main(Path(sys.argv[-1]))
