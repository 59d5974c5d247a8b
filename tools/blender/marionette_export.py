"""Exports characters for bevy_marionette, with Blender's own glTF exporter.

Install it under Edit > Preferences > Add-ons > Install from Disk. Blender 4.2 or later.

Pose markers of actions become callback keys, and actions say how they play and what carries the character, in the
sidebar of the Dope Sheet. Bone collections become masks, and empties parented to bones become sockets, in the properties
of the armature. Bones that don't deform become control joints. With "Export on Save", saving the .blend file also writes
the .glb file, which a running game loads again.

Everything is in the file's `extras`, so File > Export > glTF 2.0 writes it, too.
"""

import hashlib
import json
import os
import struct
import tempfile

import bpy
import numpy
from bpy.app.handlers import persistent
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

bl_info = {
    "name": "Marionette",
    "author": "The authors of bevy_marionette",
    "version": (1, 0, 0),
    "blender": (4, 2, 0),
    "location": "Dope Sheet > Sidebar > Marionette, and Properties > Armature Data",
    "description": "Callback keys, masks, and sockets for bevy_marionette, and export on save",
    "category": "Import-Export",
}

# ---------------------------------------------------------------------------------------------------------------------
# What artists set


class ActionSettings(bpy.types.PropertyGroup):
    playback: EnumProperty(
        name="At the End",
        description="What happens when the clip has played to its end",
        items=[
            ("AUTO", "Not Set", "The clip loops, unless the game's manifest says otherwise"),
            ("Loop", "Loop", "The clip starts over"),
            ("Once", "Hold", "The clip plays once, and its last pose stays"),
            ("PingPong", "Ping-Pong", "The clip plays backward, then forward again"),
        ],
    )
    root_motion: BoolProperty(
        name="Root Motion",
        description="The movement of the root bone carries the character in the game. Otherwise, it stays in the pose",
    )
    ground: BoolProperty(name="Ground", description="The movement over the ground", default=True)
    height: BoolProperty(name="Height", description="The movement up and down, for climbing or jumping")
    turn: BoolProperty(name="Turn", description="The turn about the vertical axis", default=True)
    steady: BoolProperty(
        name="Steady",
        description="Only the mean movement, so that the sway and bob of hips stay in the pose",
    )
    speed: FloatProperty(
        name="Speed",
        description="How fast an action that walks on the spot carries the character, in meters per second. "
        "Negative for backward, 0 if it stays where it is",
        precision=3,
        step=5,
    )


class ArmatureSettings(bpy.types.PropertyGroup):
    root_bone: StringProperty(
        name="Root Bone",
        description="The bone that travels in actions with root motion. Leave it empty for the topmost bone",
    )


class MaskSettings(bpy.types.PropertyGroup):
    is_mask: BoolProperty(
        name="Mask",
        description="The game can play clips on the bones of this collection alone",
        default=True,
    )
    falloff: IntProperty(
        name="Falloff",
        description="The number of bones above the collection's over which the mask fades out",
        min=0,
        soft_max=5,
    )


class SocketSettings(bpy.types.PropertyGroup):
    is_socket: BoolProperty(
        name="Socket",
        description="The game can attach things at this empty, which is parented to a bone",
        default=True,
    )


class ExportSettings(bpy.types.PropertyGroup):
    on_save: BoolProperty(
        name="Export on Save",
        description="Saving the .blend file also writes the .glb file. Only actions that changed are exported anew",
    )
    path: StringProperty(
        name="File",
        description="The .glb file to write. Leave it empty for one of the .blend file's name beside it",
        subtype="FILE_PATH",
    )


# ---------------------------------------------------------------------------------------------------------------------
# What it means


def callback_keys(markers, seconds, begin, end):
    """The callback keys that pose markers stand for. `seconds` is the time of a frame, `begin` and `end` are the clip's.

    `footstep: left` is a key with data. `hit begin` and `hit end` are a range. What isn't closed lasts to the end of the
    clip, and what isn't opened began at its start, as do ranges that go on in the next loop.
    """
    keys, open_ranges = [], {}
    is_backward = seconds(1) < seconds(0)
    kinds = {"begin": "end", "end": "begin"} if is_backward else {}
    for marker in sorted(markers, key=lambda marker: seconds(marker.frame)):
        name, colon, data = marker.name.partition(":")
        name, time = name.strip(), max(begin, min(seconds(marker.frame), end))
        words = name.rsplit(None, 1)
        kind = words[1].lower() if len(words) == 2 else ""
        kind = kinds.get(kind, kind)
        if kind == "end":
            waiting = open_ranges.get(words[0])
            if waiting:
                waiting.pop(0)["until"] = time
            else:
                keys.append({"time": begin, "until": time, "name": words[0]} | read_data(colon, data))
        elif kind == "begin":
            key = {"time": time, "until": end, "name": words[0]} | read_data(colon, data)
            open_ranges.setdefault(words[0], []).append(key)
            keys.append(key)
        elif name:
            keys.append({"time": time, "name": name} | read_data(colon, data))
    return sorted(keys, key=lambda key: key["time"])


def read_data(colon, text):
    """What stands after a marker's colon: JSON, or else a word."""

    def refuse(constant):
        raise ValueError(constant)

    text = text.strip()
    if not colon or not text:
        return {}
    try:
        return {"data": json.loads(text, parse_constant=refuse)}
    except ValueError:
        return {"data": text}


def first_frame(start, slides_to_zero, negative_frames):
    """The frame that is at time 0 in the file, as Blender's exporter decides it for what begins at `start`."""
    if start < 0:
        return start if negative_frames == "SLIDE" else 0
    return start if slides_to_zero else 0


def frame_rate(scene):
    # The exporter multiplies where the frame rate is a quotient.
    return scene.render.fps * scene.render.fps_base


class Passage:
    """A part of an animation that shows an action.

    It lasts from `begin` to `end`, in seconds. At its beginning, the action is at the frame `frame`, and `pace` is the
    seconds that each frame takes: below 0 where it plays backward.
    """

    def __init__(self, action, begin, end, frame, pace):
        self.action, self.begin, self.end, self.frame, self.pace = action, begin, end, frame, pace

    def seconds(self, frame):
        return self.begin + (frame - self.frame) * self.pace

    def callback_keys(self, markers):
        return callback_keys(markers, self.seconds, self.begin, self.end)

    def shown_markers(self):
        shows = lambda seconds: self.begin - 1e-6 <= seconds <= self.end + 1e-6
        return [marker for marker in self.action.pose_markers if shows(self.seconds(marker.frame))]


def whole_action(action, scene, timing):
    """An action at its own frames."""
    zero, rate = first_frame(int(action.frame_range[0]), *timing), frame_rate(scene)
    return Passage(action, 0.0, max(0.0, (int(action.frame_range[1]) - zero) / rate), zero, 1 / rate)


def passages_of_strip(strip, zero, rate):
    """The repetitions of a strip's action."""
    low, high = strip.action_frame_start, strip.action_frame_end
    length, found = (high - low) * strip.scale, []
    frame, pace = (high, -strip.scale / rate) if strip.use_reverse else (low, strip.scale / rate)
    at = strip.frame_start
    while length > 0 and at < strip.frame_end - 1e-3:
        end = min(at + length, strip.frame_end)
        found.append(Passage(strip.action, (at - zero) / rate, (end - zero) / rate, frame, pace))
        at += length
    return found


def passages_of_tracks(tracks, zero, rate):
    strips = [strip for track in tracks for strip in track.strips if strip.action and not strip.mute]
    return [passage for strip in strips for passage in passages_of_strip(strip, zero, rate)]


def tracks_together(data):
    """The NLA tracks that the exporter makes one animation of: those that blend with the one below, with that."""
    groups = []
    for track in data.nla_tracks:
        if not track.strips:
            continue
        if groups and any(strip.blend_type != "REPLACE" for strip in track.strips):
            groups[-1].append(track)
        else:
            groups.append([track])
    return groups


def passages_of_animation(name, mode, objects, scene, timing, splits_scene=True):
    """The passages of an animation in the modes in which the exporter makes it of more than one action.

    `objects` are those that are exported.
    """
    rate = frame_rate(scene)
    if mode == "SCENE" and splits_scene:
        objects = [object for object in objects if object.name == name]
    datas = [data for object in objects for data in animation_datas(object)]
    found = []
    if mode == "ACTIVE_ACTIONS":
        return [whole_action(data.action, scene, timing) for data in datas if data.action]
    if mode == "NLA_TRACKS":
        for data in datas:
            for tracks in tracks_together(data):
                if tracks[0].name == name:
                    zero = first_frame(min(track.strips[0].frame_start for track in tracks), *timing)
                    found += passages_of_tracks(tracks, zero, rate)
        return found
    # The scene, as it plays.
    zero = first_frame(scene.frame_start, *timing)
    begin, end = (max(0.0, (frame - zero) / rate) for frame in (scene.frame_start, scene.frame_end))
    for data in datas:
        if data.action and not data.use_tweak_mode:
            found.append(Passage(data.action, begin, end, zero + begin * rate, 1 / rate))
        if data.use_nla:
            solo = [track for track in data.nla_tracks if track.is_solo]
            for passage in passages_of_tracks(solo or [t for t in data.nla_tracks if not t.mute], zero, rate):
                # Only what the scene shows of it.
                frame = passage.frame + max(0.0, begin - passage.begin) / passage.pace
                begins, ends = max(begin, passage.begin), min(end, passage.end)
                if begins < ends:
                    found.append(Passage(passage.action, begins, ends, frame, passage.pace))
    return found


def animation_datas(object):
    """What animates an object, and its shape keys."""
    keys = getattr(object.data, "shape_keys", None)
    return [owner.animation_data for owner in (object, keys) if owner and owner.animation_data]


def settings_extras(action, pace=1.0):
    """What an action says of how it plays. `pace` is how much longer than the action its animation takes."""
    settings, extras = action.marionette, {}
    if settings.playback != "AUTO":
        extras["playback"] = settings.playback
    if settings.root_motion:
        extras["root_motion"] = {name: getattr(settings, name) for name in ("ground", "height", "turn", "steady")}
    if settings.speed != 0:
        extras["ground_speed"] = settings.speed / pace
    return extras


def action_extras(action, scene, slides_to_zero, negative_frames):
    """What an action's animation has under `marionette`."""
    extras = settings_extras(action)
    callbacks = whole_action(action, scene, (slides_to_zero, negative_frames)).callback_keys(action.pose_markers)
    if callbacks:
        extras["callbacks"] = callbacks
    return extras


def animation_extras(passages, scene):
    """What an animation of these passages has under `marionette`."""
    extras = {}
    if len({passage.action for passage in passages}) == 1:
        extras = settings_extras(passages[0].action, passages[0].pace * frame_rate(scene))
    # Several datas may show one action: an object and its shape keys.
    shown = {(passage.action, passage.begin, passage.end, passage.pace): passage for passage in passages}
    callbacks = [key for passage in shown.values() for key in passage.callback_keys(passage.shown_markers())]
    if callbacks:
        extras["callbacks"] = sorted(callbacks, key=lambda key: key["time"])
    return extras


def masks(armature, names):
    """The masks of an armature's bone collections. `names` are those of the bones that are exported."""
    found = {}
    bones = [bone for bone in armature.bones if bone.name in names]
    for collection in armature.collections_all:
        inside = {bone.name for bone in collection.bones_recursive} & names
        if not collection.marionette.is_mask or not any(armature.bones[name].use_deform for name in inside):
            continue
        # From the leaves: bones that are inside with all that is below them.
        whole = {}
        for bone in reversed(bones):
            below = all(whole[child.name] for child in bone.children if child.name in names)
            whole[bone.name] = bone.name in inside and below
        is_root = lambda bone: whole[bone.name] and not (bone.parent and whole.get(bone.parent.name))
        mask = {"roots": [bone.name for bone in bones if is_root(bone)]}
        alone = [bone.name for bone in bones if bone.name in inside and not whole[bone.name]]
        if alone:
            mask["joints"] = alone
        if collection.marionette.falloff:
            mask["falloff"] = collection.marionette.falloff
        found[collection.name] = mask
    return found


def root_motion(armature):
    """Which bone carries the character. Actions say which movement."""
    name = armature.marionette.root_bone
    uses = any(action.marionette.root_motion for action in bpy.data.actions)
    if not uses or name not in armature.bones:
        return None
    return {"joint": name, "ground": False, "height": False, "turn": False}


def is_socket(object):
    return object.type == "EMPTY" and object.parent_type == "BONE" and object.marionette.is_socket


# ---------------------------------------------------------------------------------------------------------------------
# Hooks of Blender's exporter


class glTF2ExportUserExtension:
    # The actions to export; None for all.
    only = None

    def gather_joint_hook(self, node, bone, export_settings):
        if not bone.bone.use_deform:
            node.extras = (node.extras or {}) | {"deform": False}

    def gather_node_hook(self, node, object, export_settings):
        if object and is_socket(object):
            add(node, {"socket": object.name})

    def gather_actions_hook(self, object, found, export_settings):
        if self.only is None:
            return
        if hasattr(found, "blender_actions"):
            # Before actions had slots, in Blender 4.4.
            found.blender_actions = [action for action in found.blender_actions if action.name in self.only]
        else:
            kept = {key: list for key, list in found.actions.items() if list[0].action.name in self.only}
            found.actions = kept

    def gather_gltf_hook(self, scene_index, scenes, animations, export_settings):
        scene, mode = bpy.context.scene, export_settings["gltf_animation_mode"]
        timing = export_settings["gltf_anim_slide_to_zero"], export_settings["gltf_negative_frames"]
        nodes = [node for node in export_settings["vtree"].nodes.values() if node.node is not None]
        objects = [node.blender_object for node in nodes if node.blender_object and not node.blender_bone]
        splits_scene = export_settings.get("gltf_anim_scene_split_object", True)
        for animation in animations:
            if mode in ("ACTIVE_ACTIONS", "NLA_TRACKS", "SCENE"):
                passages = passages_of_animation(animation.name, mode, objects, scene, timing, splits_scene)
                add(animation, animation_extras(passages, scene))
                continue
            action = action_of(animation.name)
            if action:
                add(animation, action_extras(action, scene, *timing))
        extras = {}
        for node in nodes:
            if not node.blender_object or node.blender_object.type != "ARMATURE" or node.blender_bone:
                continue
            armature = node.blender_object.data
            names = {bone.blender_bone.name for bone in nodes if bone.blender_bone and bone.armature == node.uuid}
            found = masks(armature, names)
            if found:
                extras["masks"] = found | extras.get("masks", {})
            moves = root_motion(armature)
            if moves:
                extras["root_motion"] = moves
        add(scenes[scene_index], extras)


def add(to, extras):
    if extras:
        to.extras = to.extras or {}
        to.extras["marionette"] = extras


def action_of(name):
    """The action that an animation is made of. The exporter may call it after an NLA track."""
    if name in bpy.data.actions:
        return bpy.data.actions[name]
    for object in bpy.data.objects:
        tracks = object.animation_data.nla_tracks if object.animation_data else []
        for track in tracks:
            strips = [strip for strip in track.strips if strip.action]
            if track.name == name and len(strips) == 1:
                return strips[0].action
    return None


# ---------------------------------------------------------------------------------------------------------------------
# Export on save
#
# The exporter takes a second per action and more, and a few tenths for everything else. So what it wrote is kept, with
# a fingerprint of each action: only those that changed are exported anew, and the others are copied from the last file.


class Glb:
    """The JSON of a .glb file, and the binary data behind it."""

    def __init__(self, data):
        magic, version, _, length, kind = struct.unpack_from("<4sII I4s", data)
        if magic != b"glTF" or version != 2 or kind != b"JSON":
            raise ValueError("not a .glb file")
        self.document = json.loads(data[20 : 20 + length])
        self.binary = bytearray(data[28 + length :])

    def to_bytes(self):
        if self.binary:
            self.document["buffers"][0]["byteLength"] = len(self.binary)
        text = json.dumps(self.document, separators=(",", ":"), ensure_ascii=False).encode()
        chunks = [(b"JSON", text + b" " * (-len(text) % 4))]
        if self.binary:
            chunks.append((b"BIN\0", bytes(self.binary) + bytes(-len(self.binary) % 4)))
        body = b"".join(struct.pack("<I4s", len(data), kind) + data for kind, data in chunks)
        return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body

    def has_nodes_of(self, other):
        """Whether the nodes are the same, so that animations of one fit the other."""
        key = lambda node: (node.get("name"), node.get("children"))
        return [*map(key, self.document.get("nodes", []))] == [*map(key, other.document.get("nodes", []))]

    def copy_animations(self, other, names):
        """Copies animations from another file with the same nodes."""
        document, theirs = self.document, other.document
        views, accessors = {}, {}
        document.setdefault("buffers", [{"byteLength": 0}])

        def view(index):
            if index not in views:
                copy = dict(theirs["bufferViews"][index])
                start = copy.get("byteOffset", 0)
                self.binary.extend(bytes(-len(self.binary) % 4))
                copy["byteOffset"] = len(self.binary)
                self.binary.extend(other.binary[start : start + copy["byteLength"]])
                views[index] = len(document.setdefault("bufferViews", []))
                document["bufferViews"].append(copy)
            return views[index]

        def accessor(index):
            if index not in accessors:
                copy = dict(theirs["accessors"][index])
                copy["bufferView"] = view(copy["bufferView"])
                accessors[index] = len(document.setdefault("accessors", []))
                document["accessors"].append(copy)
            return accessors[index]

        for animation in theirs.get("animations", []):
            if animation["name"] in names:
                samplers = [
                    sampler | {"input": accessor(sampler["input"]), "output": accessor(sampler["output"])}
                    for sampler in animation["samplers"]
                ]
                document.setdefault("animations", []).append(animation | {"samplers": samplers})
        if "animations" in document:
            document["animations"].sort(key=lambda animation: animation["name"].lower())


# How the .glb is exported, unless the exporter remembers settings for the scene.
DEFAULTS = {
    "export_format": "GLB",
    "export_animation_mode": "ACTIONS",
    "export_anim_slide_to_zero": True,
    "export_negative_frame": "SLIDE",
    "export_optimize_disable_viewport": True,
}


def settings_of(scene):
    """The settings of the exporter for a scene."""
    known = bpy.ops.export_scene.gltf.get_rna_type().properties.keys()
    remembered = scene.get("glTF2ExportSettings") or {}
    remembered = {key: value for key, value in dict(remembered).items() if key in known}
    remembered.pop("export_format", None)
    return DEFAULTS | remembered


def simple(struct):
    """The plain values of a part of Blender's data."""
    values = []
    for property in struct.bl_rna.properties:
        if property.identifier == "rna_type":
            continue
        value = getattr(struct, property.identifier, None)
        if property.type == "POINTER":
            values.append(getattr(value, "name", None))
        elif property.type != "COLLECTION":
            values.append(list(value) if getattr(property, "is_array", False) else value)
    return repr(values)


def curves_of(action):
    if hasattr(action, "layers"):
        for layer in action.layers:
            for strip in layer.strips:
                for bag in strip.channelbags:
                    yield from (("%d" % bag.slot_handle, curve) for curve in bag.fcurves)
    else:
        yield from (("", curve) for curve in action.fcurves)


def fingerprint_of_action(action):
    # Characters have tens of thousands of short curves, which are read whenever a file is saved. So the arrays are made
    # once, the text is made at the end, and what has no effect isn't read: the handles of curves that are only CONSTANT
    # (0) or LINEAR (1).
    curves = [*curves_of(action)]
    most = max((len(curve.keyframe_points) for _, curve in curves), default=0)
    kinds, pairs = numpy.empty(most, numpy.int32), numpy.empty(2 * most, numpy.float32)
    texts, chunks = [], []
    for slot, curve in curves:
        points = curve.keyframe_points
        count = len(points)
        texts.append((slot, curve.data_path, curve.array_index, curve.mute, curve.extrapolation, count))
        points.foreach_get("interpolation", kinds[:count])
        chunks.append(kinds[:count].tobytes())
        is_plain = not chunks[-1].strip(b"\0\1")
        for name in ("co",) if is_plain else ("co", "handle_left", "handle_right"):
            points.foreach_get(name, pairs[: 2 * count])
            chunks.append(pairs[: 2 * count].tobytes())
        if not is_plain:
            points.foreach_get("easing", kinds[:count])
            chunks.append(kinds[:count].tobytes())
        if len(curve.modifiers):
            texts.append([simple(modifier) for modifier in curve.modifiers])
    whole = [*action.frame_range, getattr(action, "use_frame_range", False)]
    slots = [(slot.identifier, slot.handle) for slot in getattr(action, "slots", [])]
    digest = hashlib.blake2b(repr((whole, slots, texts)).encode(), digest_size=12)
    digest.update(b"".join(chunks))
    return digest.hexdigest()


def fingerprint_of_rig(scene, settings):
    """What all actions depend on: bones, constraints, drivers, and which objects there are."""
    digest = hashlib.blake2b(digest_size=12)
    note = lambda *values: digest.update(repr(values).encode())
    note(bpy.app.version, bl_info["version"], sorted(settings.items(), key=str), scene.render.fps, scene.render.fps_base)
    for object in sorted(scene.objects, key=lambda object: object.name):
        data = object.animation_data
        note(object.name, object.type, object.parent and object.parent.name, object.parent_type, object.parent_bone)
        note(object.hide_render, object.visible_get(), [*map(tuple, object.matrix_parent_inverse)])
        if not data or not (data.action or data.nla_tracks):
            note([*map(tuple, object.matrix_basis)])
        for track in data.nla_tracks if data else []:
            note(track.name, track.mute, [(strip.action and strip.action.name, strip.mute) for strip in track.strips])
        for driver in data.drivers if data else []:
            note(driver.data_path, driver.array_index, driver.driver.type, driver.driver.expression)
            for variable in driver.driver.variables:
                note(variable.name, variable.type, [simple(target) for target in variable.targets])
        for constraint in object.constraints:
            note(simple(constraint))
        if object.type == "ARMATURE":
            for bone in object.data.bones:
                note(bone.name, bone.parent and bone.parent.name, [*map(tuple, bone.matrix_local)], bone.length)
                note(bone.use_deform, bone.inherit_scale, bone.use_inherit_rotation, bone.use_local_location)
            for bone in object.pose.bones:
                note(bone.rotation_mode, [simple(constraint) for constraint in bone.constraints])
                note(bone.ik_stretch, [*bone.lock_location], [*bone.lock_rotation], [*bone.lock_scale])
        keys = getattr(object.data, "shape_keys", None)
        if keys:
            note([block.name for block in keys.key_blocks])
    return digest.hexdigest()


def last_export(path):
    """The file that was exported last, with the fingerprints in it."""
    try:
        with open(path, "rb") as file:
            last = Glb(file.read())
        prints = last.document["asset"]["extras"]["marionette"]
        return last, prints["rig"], dict(prints["actions"])
    except (OSError, ValueError, KeyError, TypeError, struct.error):
        return None, None, {}


def run_exporter(settings, only):
    """The file that Blender's exporter makes, with the actions in `only`; None for all."""
    settings = dict(settings)
    if only is not None and not only:
        settings["export_animations"] = False
    glTF2ExportUserExtension.only = only
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "character.glb")
            bpy.ops.export_scene.gltf(filepath=path, **settings)
            with open(path, "rb") as file:
                return Glb(file.read())
    finally:
        glTF2ExportUserExtension.only = None


def export(scene, path, everything=False):
    """Writes a .glb file. Returns the names of the actions that were exported anew, or None if all were."""
    settings = settings_of(scene)
    rig = fingerprint_of_rig(scene, settings)
    prints = {action.name: fingerprint_of_action(action) for action in bpy.data.actions}
    last, last_rig, last_prints = last_export(path)
    names = {animation.get("name") for animation in last.document.get("animations", [])} if last else set()
    changed = {name for name, print in prints.items() if last_prints.get(name) != print}
    kept = names & (prints.keys() - changed)
    is_partial = kept and last_rig == rig and not everything
    # Each action is an animation of its name in this mode alone.
    is_partial = is_partial and settings["export_animation_mode"] == "ACTIONS" and settings.get("export_animations", True)
    made = run_exporter(settings, changed if is_partial else None)
    if is_partial and not made.has_nodes_of(last):
        is_partial = False
        made = run_exporter(settings, None)
    if is_partial:
        made.copy_animations(last, kept)
        for animation in made.document.get("animations", []):
            if animation["name"] in kept:
                refresh(animation, scene, settings)
    asset = made.document["asset"]
    asset["extras"] = (asset.get("extras") or {}) | {"marionette": {"rig": rig, "actions": prints}}
    # In one step, for a game that is watching.
    beside = path + "~"
    with open(beside, "wb") as file:
        file.write(made.to_bytes())
    os.replace(beside, path)
    return changed if is_partial else None


def refresh(animation, scene, settings):
    """Markers and properties may have changed where nothing else did."""
    extras = animation.get("extras") or {}
    extras.pop("marionette", None)
    timing = settings["export_anim_slide_to_zero"], settings["export_negative_frame"]
    new = action_extras(bpy.data.actions[animation["name"]], scene, *timing)
    if new:
        extras["marionette"] = new
    animation.pop("extras", None)
    if extras:
        animation["extras"] = extras


def path_of(scene):
    """The .glb file of a scene; None before the .blend file has a name."""
    if scene.marionette.path:
        path = bpy.path.abspath(scene.marionette.path)
        return path if path.lower().endswith(".glb") else path + ".glb"
    return os.path.splitext(bpy.data.filepath)[0] + ".glb" if bpy.data.filepath else None


@persistent
def export_on_save(*_):
    scene = bpy.context.scene
    if scene.marionette.on_save:
        export(scene, path_of(scene))


# ---------------------------------------------------------------------------------------------------------------------
# User interface


class MARIONETTE_OT_export(bpy.types.Operator):
    bl_idname = "marionette.export"
    bl_label = "Export Now"
    bl_description = "Writes the .glb file with all actions"

    @classmethod
    def poll(cls, context):
        cls.poll_message_set("Save the .blend file first, or choose a file")
        return path_of(context.scene) is not None

    def execute(self, context):
        path = path_of(context.scene)
        export(context.scene, path, everything=True)
        self.report({"INFO"}, "Exported %s" % path)
        return {"FINISHED"}


class DopeSheetPanel:
    bl_space_type = "DOPESHEET_EDITOR"
    bl_region_type = "UI"
    bl_category = "Marionette"


def active_action(context):
    action = getattr(context, "active_action", None)
    data = context.object.animation_data if context.object else None
    return action or (data.action if data else None)


class MARIONETTE_PT_action(DopeSheetPanel, bpy.types.Panel):
    bl_label = "Clip"

    @classmethod
    def poll(cls, context):
        return active_action(context) is not None

    def draw(self, context):
        layout, action = self.layout, active_action(context)
        settings = action.marionette
        layout.use_property_split = True
        layout.label(text=action.name, icon="ACTION")
        layout.prop(settings, "playback")
        layout.prop(settings, "root_motion")
        if settings.root_motion:
            column = layout.column(heading="Extract")
            for name in ("ground", "height", "turn", "steady"):
                column.prop(settings, name)
        else:
            layout.prop(settings, "speed")


class MARIONETTE_PT_callbacks(DopeSheetPanel, bpy.types.Panel):
    bl_label = "Callback Keys"
    bl_parent_id = "MARIONETTE_PT_action"

    def draw(self, context):
        layout, action = self.layout, active_action(context)
        rate = frame_rate(context.scene)
        start, end = action.frame_range
        seconds = lambda frame: (frame - start) / rate
        keys = callback_keys(action.pose_markers, seconds, 0.0, max(0.0, seconds(end)))
        for key in keys:
            row = layout.row()
            row.label(text=key["name"], icon="MARKER_HLT")
            until = " to %.2f" % key["until"] if "until" in key else ""
            data = ", %s" % json.dumps(key["data"]) if "data" in key else ""
            row.label(text="%.2f%s s%s" % (key["time"], until, data))
        if not keys:
            layout.label(text="Turn on Marker > Show Pose Markers", icon="INFO")
            layout.label(text="and press M where a foot lands.")
        box = layout.column(align=True)
        box.active = False
        box.label(text="footstep: left")
        box.label(text="hit begin ... hit end")


class MARIONETTE_PT_export(DopeSheetPanel, bpy.types.Panel):
    bl_label = "Export"

    def draw(self, context):
        settings = context.scene.marionette
        self.layout.prop(settings, "on_save")
        self.layout.prop(settings, "path")
        self.layout.operator("marionette.export", icon="EXPORT")


class MARIONETTE_PT_armature(bpy.types.Panel):
    bl_label = "Marionette"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "data"

    @classmethod
    def poll(cls, context):
        return context.armature is not None

    def draw(self, context):
        layout, armature = self.layout, context.armature
        layout.use_property_split = True
        layout.prop_search(armature.marionette, "root_bone", armature, "bones")
        layout.label(text="Masks")
        for collection in armature.collections_all:
            row = layout.row()
            row.use_property_split = False
            row.prop(collection.marionette, "is_mask", text=collection.name)
            column = row.column()
            column.active = collection.marionette.is_mask
            column.prop(collection.marionette, "falloff")
        layout.label(text="Sockets")
        for object in context.scene.objects:
            if object.type == "EMPTY" and object.parent_type == "BONE" and object.parent.data == armature:
                row = layout.row()
                row.use_property_split = False
                row.prop(object.marionette, "is_socket", text="%s on %s" % (object.name, object.parent_bone))


CLASSES = (
    ActionSettings,
    ArmatureSettings,
    MaskSettings,
    SocketSettings,
    ExportSettings,
    MARIONETTE_OT_export,
    MARIONETTE_PT_action,
    MARIONETTE_PT_callbacks,
    MARIONETTE_PT_export,
    MARIONETTE_PT_armature,
)
SETTINGS = (
    (bpy.types.Action, ActionSettings),
    (bpy.types.Armature, ArmatureSettings),
    (bpy.types.BoneCollection, MaskSettings),
    (bpy.types.Object, SocketSettings),
    (bpy.types.Scene, ExportSettings),
)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    for owner, settings in SETTINGS:
        owner.marionette = PointerProperty(type=settings)
    bpy.app.handlers.save_post.append(export_on_save)


def unregister():
    bpy.app.handlers.save_post.remove(export_on_save)
    for owner, _ in SETTINGS:
        del owner.marionette
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
