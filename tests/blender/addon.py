"""Exports a character with the add-on of `tools/blender`, and compares what `marionette inspect` reads with what was set.

    python3.11 tests/blender/addon.py MARIONETTE

The add-on is installed as a user would, in a folder of its own. Exits with 1 if something isn't as it was set, and with 2
if Blender is missing. `.ci/blender` runs this for each Blender that it has.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = tempfile.TemporaryDirectory()
os.environ["BLENDER_USER_RESOURCES"] = FOLDER.name

try:
    import bpy
    from mathutils import Euler, Matrix
except ImportError as missing:
    print(f"NOTHING WAS EXPORTED: {missing}. Install Blender as a module: see .ci/blender", file=sys.stderr)
    sys.exit(2)

ADDON = Path(__file__).resolve().parents[2] / "tools/blender/marionette_export.py"
BONES = [
    # name, parent, head, tail
    ("hips", None, (0, 0, 1.0), (0, 0, 1.2)),
    ("spine", "hips", (0, 0, 1.2), (0, 0, 1.4)),
    ("head", "spine", (0, 0, 1.4), (0, 0, 1.7)),
    ("arm.L", "spine", (0.2, 0, 1.4), (0.6, 0, 1.4)),
    ("hand.L", "arm.L", (0.6, 0, 1.4), (0.8, 0, 1.4)),
    ("arm.R", "spine", (-0.2, 0, 1.4), (-0.6, 0, 1.4)),
    ("hand.R", "arm.R", (-0.6, 0, 1.4), (-0.8, 0, 1.4)),
    ("thigh.L", "hips", (0.1, 0, 1.0), (0.1, 0, 0.5)),
    ("thigh.R", "hips", (-0.1, 0, 1.0), (-0.1, 0, 0.5)),
    ("ik", None, (0, 0, 0), (0, 0, 0.2)),
]


def empty_file():
    """Begins an empty file, with the add-on."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.preferences.addon_install(filepath=str(ADDON), overwrite=True)
    bpy.ops.preferences.addon_enable(module=ADDON.stem)


def author(scale):
    """Makes a character of the size of a person in a scene of its own."""
    empty_file()
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = 30, 1.0
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent, head, tail in BONES:
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = (tuple(number / scale for number in point) for point in (head, tail))
        bone.parent = rig.data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.scale = (scale,) * 3
    rig.data.bones["ik"].use_deform = False
    rig.data.marionette.root_bone = "hips"
    for name, bones, falloff in [
        ("upper_body", ("spine", "head", "arm.L", "hand.L", "arm.R", "hand.R"), 1),
        ("torso", ("hips", "spine", "head"), 0),
        ("controls", ("ik",), 0),
        ("no_mask", ("hips",), 0),
    ]:
        collection = rig.data.collections.new(name)
        collection.marionette.falloff = falloff
        collection.marionette.is_mask = name != "no_mask"
        for bone in bones:
            collection.assign(rig.data.bones[bone])

    # A triangle for each bone.
    vertices, faces = [], []
    for name, _, head, tail in BONES:
        faces.append(tuple(range(len(vertices), len(vertices) + 3)))
        vertices += [head, tail, (head[0], head[1] + 0.1, head[2])]
    mesh = bpy.data.meshes.new("Body")
    mesh.from_pydata(vertices, [], faces)
    body = bpy.data.objects.new("Body", mesh)
    scene.collection.objects.link(body)
    for at, (name, *_) in enumerate(BONES):
        if name != "ik":
            body.vertex_groups.new(name=name).add(faces[at], 1.0, "ADD")
    body.vertex_groups["hips"].add(faces[-1], 1.0, "ADD")
    body.parent = rig
    body.matrix_parent_inverse = Matrix.Scale(1 / scale, 4)
    body.modifiers.new("Armature", "ARMATURE").object = rig

    bpy.context.view_layer.update()
    for name, bone, is_socket in [("right_hand", "hand.R", True), ("pole", "ik", False)]:
        empty = bpy.data.objects.new(name, None)
        scene.collection.objects.link(empty)
        empty.parent, empty.parent_type, empty.parent_bone = rig, "BONE", bone
        empty.marionette.is_socket = is_socket
    bpy.context.view_layer.update()
    # In the middle of the hand and below it.
    turn = Euler((math.radians(-60), 0, math.radians(90)))
    bpy.data.objects["right_hand"].matrix_world = Matrix.LocRotScale((-0.7, 0, 1.35), turn, None)

    rig.animation_data_create()
    for name, start, markers in [
        ("walk", 1, [(7, "footstep: left"), (22, "footstep: right")]),
        ("jump", 0, [(3, "jump"), (6, "hit begin: [1, 2]"), (9, "hit end"), (12, "land")]),
        ("wave", -5, [(-2, "trail end"), (10, "trail begin")]),
    ]:
        action = bpy.data.actions.new(name)
        action.use_fake_user = True
        rig.animation_data.action = action
        if hasattr(action, "slots"):
            rig.animation_data.action_slot = action.slots.new(id_type="OBJECT", name="Rig")
        hips, arm = rig.pose.bones["hips"], rig.pose.bones["arm.L"]
        for at in (0, 1):
            frame = start + at * (30 if name == "walk" else 20)
            # Along the own axes of the hips, whose Z is the front.
            hips.location = (0, 0, (1.5 if name == "walk" else 0) * at / scale)
            hips.keyframe_insert("location", frame=frame)
            arm.rotation_mode = "QUATERNION"
            arm.rotation_quaternion = (1, 0.1 * at, 0, 0)
            arm.keyframe_insert("rotation_quaternion", frame=frame)
        for curve in curves(action):
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"
        for frame, text in markers:
            action.pose_markers.new(text).frame = frame
    bpy.data.actions["walk"].marionette.root_motion = True
    bpy.data.actions["jump"].marionette.playback = "Once"
    bpy.data.actions["jump"].marionette.speed = 2.5
    return scene


def curves(action):
    module = sys.modules[ADDON.stem]
    return [curve for _, curve in module.curves_of(action)]


def inspect(marionette, path):
    done = subprocess.run([marionette, "inspect", "--json", path], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{path}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)[0]


def near(a, b, by):
    """Whether values are the same, if numbers may differ by a little."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(near(a[key], b[key], by) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(near(*pair, by) for pair in zip(a, b))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return abs(a - b) < by
    return a == b


FAILURES = []


def anew(actions):
    """What an export says that it exported anew."""
    return "everything" if actions is None else sorted(actions)


def expect(what, found, wanted, by=1e-4):
    if not near(found, wanted, by):
        FAILURES.append(f"{what}:\n  found  {found}\n  wanted {wanted}")


def check(found, what):
    expect(f"{what}: diagnostics", found["diagnostics"], [])
    model = found["model"]
    joints = {joint["name"]: joint for joint in model["joints"]}
    expect(f"{what}: control", [name for name, joint in joints.items() if joint["control"]], ["ik"])
    expect(f"{what}: no joint is made of a socket", sorted(joints), sorted([name for name, *_ in BONES] + ["pole"]))
    masks, sockets = model["manifest"]["masks"], model["manifest"]["sockets"]
    mask = lambda roots, joints, falloff: {"roots": roots, "falloff": falloff} | ({"joints": joints} if joints else {})
    expect(
        f"{what}: masks",
        masks,
        {"torso": mask(["head"], ["hips", "spine"], 0), "upper_body": mask(["spine"], [], 1)},
    )
    # Bones point along their own Y, and this one has its Z up, which is the other way in the game. Objects have their Y up
    # in the game, and their Z in Blender.
    socket = {"joint": "hand.R", "translation": [0, 0.1, 0.05], "euler_degrees": [-30, 0, 0], "scale": 1.0}
    expect(f"{what}: sockets", sockets, {"right_hand": socket})
    clips = {clip["name"]: clip for clip in model["clips"]}
    expect(f"{what}: clips", sorted(clips), ["jump", "walk", "wave"])
    if FAILURES:
        return
    keys = lambda name: [
        [key["time"], key.get("until"), key["name"], key["data"]] for key in clips[name]["callbacks"]
    ]
    expect(f"{what}: walk", keys("walk"), [[0.2, None, "footstep", '"left"'], [0.7, None, "footstep", '"right"']])
    expect(
        f"{what}: jump",
        keys("jump"),
        [[0.1, None, "jump", "()"], [0.2, 0.3, "hit", "[1,2]"], [0.4, None, "land", "()"]],
    )
    expect(f"{what}: wave", keys("wave"), [[0.0, 0.1, "trail", "()"], [0.5, 2 / 3, "trail", "()"]])
    expect(f"{what}: seconds", [clips[name]["seconds"] for name in ("walk", "jump", "wave")], [1.0, 2 / 3, 2 / 3])
    expect(f"{what}: playback", [clips[name]["playback"] for name in ("walk", "jump", "wave")], ["loop", "once", "loop"])
    speeds = {name: (clip["root_motion"] or {}).get("ground_speed") for name, clip in clips.items()}
    expect(f"{what}: ground speed", speeds, {"walk": 1.5, "jump": 2.5, "wave": None})


def animations(path):
    """The animations of a file, with the numbers of their keys."""
    module = sys.modules[ADDON.stem]
    glb = module.Glb(Path(path).read_bytes())
    found = {}
    for animation in glb.document["animations"]:
        channels = {}
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            data = []
            for index in (sampler["input"], sampler["output"]):
                accessor = glb.document["accessors"][index]
                view = glb.document["bufferViews"][accessor["bufferView"]]
                data.append(bytes(glb.binary[view["byteOffset"] :][: view["byteLength"]]))
            channels[channel["target"]["node"], channel["target"]["path"]] = data
        found[animation["name"]] = (channels, animation["extras"] if "extras" in animation else None)
    return found


def scout(marionette):
    """Says in Blender what Scout's manifest says of callback keys, masks and sockets, and compares the two."""
    manifest = ADDON.parents[2] / "assets/scout/scout.character.ron"
    folder = Path(FOLDER.name)
    subprocess.run([marionette, "convert", manifest, "-o", folder / "scout.glb"], check=True, capture_output=True)
    before = inspect(marionette, manifest)["model"]
    empty_file()
    scene = bpy.context.scene
    scene.render.fps = 60
    bpy.ops.import_scene.gltf(filepath=str(folder / "scout.glb"), loglevel=50, disable_bone_shape=True)
    rig = next(object for object in scene.objects if object.type == "ARMATURE")
    # Older versions put the object's name behind the clip's.
    for track in rig.animation_data.nla_tracks:
        track.strips[0].action.name = track.name
    for clip in before["clips"]:
        action = bpy.data.actions[clip["name"]]
        action.marionette.playback = {"loop": "Loop", "once": "Once"}[clip["playback"]]
        for key in clip["callbacks"]:
            name = f"{key['name']}: {json.loads(key['data'])}" if key["data"] != "()" else key["name"]
            action.pose_markers.new(name).frame = round(key["time"] * scene.render.fps)
    for name, mask in before["manifest"]["masks"].items():
        collection = rig.data.collections.new(name)
        collection.marionette.falloff = mask["falloff"]
        for root in mask["roots"]:
            for bone in [rig.data.bones[root], *rig.data.bones[root].children_recursive]:
                collection.assign(bone)
    # The importer makes one of all bones.
    for collection in rig.data.collections:
        collection.marionette.is_mask = collection.name in before["manifest"]["masks"]
    rig.data.pose_position = "REST"
    bpy.context.view_layer.update()
    for name, socket in before["manifest"]["sockets"].items():
        empty = bpy.data.objects.new(name, None)
        scene.collection.objects.link(empty)
        empty.parent, empty.parent_type, empty.parent_bone = rig, "BONE", socket["joint"]
        bpy.context.view_layer.update()
        # The game's joints have their X and Z the other way, and its objects their Y up where Blender's have their Z.
        x, y, z = socket["translation"]
        place = Matrix.Translation((-x, y, -z)) @ Matrix.Rotation(math.radians(-90), 4, "X")
        empty.matrix_world = rig.matrix_world @ rig.pose.bones[socket["joint"]].matrix @ place
    rig.data.pose_position = "POSE"
    path = folder / "from_blender.glb"
    bpy.ops.export_scene.gltf(filepath=str(path), **sys.modules[ADDON.stem].DEFAULTS)
    after = inspect(marionette, path)["model"]
    for field in ("masks", "sockets"):
        expect(f"Scout: {field}", after["manifest"][field], before["manifest"][field])
    of_clips = lambda model: {
        clip["name"]: [clip["playback"], [[key["time"], key["name"], key["data"]] for key in clip["callbacks"]]]
        for clip in model["clips"]
    }
    # Markers are at whole frames.
    expect("Scout: clips", of_clips(after), of_clips(before), by=0.51 / scene.render.fps)


def in_mode(mode, **settings):
    """The callback keys of each animation of the open file, exported in one of the exporter's modes."""
    path = Path(FOLDER.name) / "mode.glb"
    module = sys.modules[ADDON.stem]
    given = dict(module.DEFAULTS) | {"export_animation_mode": mode, "export_anim_slide_to_zero": False} | settings
    bpy.ops.export_scene.gltf(filepath=str(path), **given)
    found = {}
    for animation in module.Glb(path.read_bytes()).document["animations"]:
        extras = animation.get("extras", {}).get("marionette", {})
        keys = [[key["name"], key["time"], *([key["until"]] if "until" in key else [])] for key in extras.get("callbacks", [])]
        found[animation["name"]] = [keys, {name: extras[name] for name in extras if name != "callbacks"}]
    return found


def modes():
    """Exports strips and scenes: callback keys are where the markers are in the animation."""
    author(1.0)
    scene, rig = bpy.context.scene, bpy.data.objects["Rig"]
    data, jump, wave = rig.animation_data, bpy.data.actions["jump"], bpy.data.actions["wave"]
    plain = [["jump", 3], ["hit", 6, 9], ["land", 12]]
    once = {"playback": "Once"}
    data.action = jump
    merged = in_mode("ACTIVE_ACTIONS")
    seconds = lambda keys, start=0, scale=1: [
        [name, *((start + frame * scale) / 30 for frame in frames)] for name, *frames in keys
    ]
    expect("active actions", merged, {"Animation": [seconds(plain), once | {"ground_speed": 2.5}]})
    scene.frame_start, scene.frame_end = 5, 60
    # Only what the scene shows: the range is cut off, and the rest follows.
    shown = [["hit", 6, 9], ["land", 12]]
    expect("scene", in_mode("SCENE")["Rig"][0], seconds(shown))
    slid = in_mode("SCENE", export_anim_slide_to_zero=True)
    expect("scene that slides to zero", slid["Rig"][0], seconds(shown, -5))

    data.action = None
    for what, start, scale in [("at 0", 0, 1.0), ("at 101", 101, 1.0), ("slow", 0, 2.0), ("late and fast", 40, 0.5)]:
        track = data.nla_tracks.new()
        track.name = what
        strip = track.strips.new("strip", start, jump)
        strip.scale = scale
        speed = once | {"ground_speed": 2.5 / scale}
        expect(what, in_mode("NLA_TRACKS")[what], [seconds(plain, start, scale), speed])
        if start:
            slid = in_mode("NLA_TRACKS", export_anim_slide_to_zero=True)
            expect(f"{what}, slid to zero", slid[what][0], seconds(plain, 0, scale))
        if what == "late and fast":
            cut = seconds(plain, start, scale)
            scene.frame_start, scene.frame_end = 0, 44
            expect("a strip in a scene", in_mode("SCENE")["Rig"][0], [cut[0], [*cut[1][:2], 44 / 30]])
        data.nla_tracks.remove(track)

    track = data.nla_tracks.new()
    track.name = "several"
    first = track.strips.new("first", 10, jump)
    first.repeat = 2.0
    first.use_reverse = True
    muted = track.strips.new("muted", 60, jump)
    muted.mute = True
    track.strips.new("second", 90, wave)
    found = in_mode("NLA_TRACKS")["several"]
    backward = lambda at: [["land", at + 8], ["hit", at + 11, at + 14], ["jump", at + 17]]
    # The action begins at frame -5 and ends at 15. Each of its ranges is open at one end.
    forward = [["trail", 90, 93], ["trail", 105, 110]]
    expect("several strips", found, [seconds(backward(10) + backward(30) + forward), {}])
    bpy.ops.preferences.addon_disable(module=ADDON.stem)


def main(marionette):
    folder = Path(FOLDER.name)
    for scale in (1.0, 0.01):
        scene = author(scale)
        module = sys.modules[ADDON.stem]
        what = f"scale {scale}"
        settings = dict(module.DEFAULTS)
        path = folder / "by_exporter.glb"
        bpy.ops.export_scene.gltf(filepath=str(path), **settings)
        check(inspect(marionette, path), what)

        blend, path = folder / "hero.blend", folder / "hero.glb"
        scene.marionette.on_save = True
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
        check(inspect(marionette, path), f"{what}, on save")

        # A marker alone moves: nothing is exported anew, and the file is as if everything were.
        markers = bpy.data.actions["walk"].pose_markers
        markers[0].frame = 10
        again = module.export(scene, str(path))
        expect(f"{what}: exported anew for a marker", anew(again), [])
        moved = inspect(marionette, path)["model"]["clips"]
        times = [key["time"] for clip in moved if clip["name"] == "walk" for key in clip["callbacks"]]
        expect(f"{what}: a marker moved", times, [0.3, 0.7])
        # One action changes.
        for curve in curves(bpy.data.actions["jump"]):
            curve.keyframe_points[1].co.y += 0.01
        again = module.export(scene, str(path))
        expect(f"{what}: exported anew for an action", anew(again), ["jump"])
        partial = animations(path)
        again = module.export(scene, str(path), everything=True)
        expect(f"{what}: exported anew when asked", anew(again), "everything")
        if partial != animations(path):
            FAILURES.append(f"{what}: a file of old and new actions differs from a new one")
        # A bone changes: all actions depend on it.
        bpy.data.objects["Rig"].pose.bones["hips"].rotation_mode = "XYZ"
        expect(f"{what}: exported anew for a bone", anew(module.export(scene, str(path))), "everything")
        bpy.ops.preferences.addon_disable(module=ADDON.stem)


if __name__ == "__main__":
    main(sys.argv[1])
    modes()
    scout(sys.argv[1])
    if FAILURES:
        sys.exit("\n".join(FAILURES))
    print(
        f"Blender {bpy.app.version_string}: keys, playback, root motion, masks, sockets and flags are as they were set, and"
        " Scout's are those of its manifest"
    )
