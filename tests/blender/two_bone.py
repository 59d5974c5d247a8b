"""Writes what Blender's IK constraint does to limbs of two bones, as a reference for our solver.

    python3.11 -m pip install bpy==4.5.15      # Blender as a module, for Python 3.11; 1 GB
    python3.11 tests/blender/two_bone.py > tests/core/rig/two_bone.json

Each case is an arm whose elbow is a hinge, with a goal within reach, a pole and a pole angle. Blender evaluates it, and
the elbow and the hand that come out are written beside the input, in Blender's axes. `cargo test --test core rig`
reads the file.
"""

import json
import math
import random
import sys

try:
    import bpy
    from mathutils import Quaternion, Vector
except ImportError as missing:
    print(
        f"NOTHING WAS WRITTEN: {missing}. Install Blender as a module, for Python 3.11:\n"
        "    python3.11 -m pip install bpy==4.5.15",
        file=sys.stderr,
    )
    sys.exit(2)

CASES = 80


def direction(rng):
    while True:
        v = Vector([rng.uniform(-1, 1) for _ in range(3)])
        if 0.1 < v.length < 1:
            return v.normalized()


def empty(name):
    thing = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(thing)
    return thing


def rows(matrix):
    return [round(x, 6) for row in matrix for x in row]


def point(vector):
    return [round(x, 6) for x in vector]


def case(rng):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    data = bpy.data.armatures.new("arm")
    rig = bpy.data.objects.new("arm", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    # The elbow is a hinge about the x of its bone, so both bones get an x at a right angle to the limb's plane.
    shoulder, upper = direction(rng), direction(rng) * rng.uniform(0.5, 1.5)
    hinge = upper.cross(direction(rng)).normalized()
    bend = rng.uniform(0.2, 1.2) * rng.choice([-1, 1])
    lower = (Quaternion(hinge, bend) @ upper).normalized() * rng.uniform(0.5, 1.5)
    bones = []
    for name, head, tail in [("upper", shoulder, shoulder + upper), ("lower", shoulder + upper, shoulder + upper + lower)]:
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        bone.align_roll(hinge.cross(tail - head))
        bones.append(bone)
    bones[1].parent, bones[1].use_connect = bones[0], True
    bpy.ops.object.mode_set(mode="POSE")
    goal, pole = empty("goal"), empty("pole")
    nearest, farthest = abs(upper.length - lower.length), upper.length + lower.length
    reach = nearest + (farthest - nearest) * rng.uniform(0.15, 0.9)
    # Blender's solver starts from the pose and stops at the nearest minimum: the goal is not behind it.
    toward = (Quaternion(direction(rng), rng.uniform(0, 1.2)) @ (upper + lower)).normalized()
    goal.location = shoulder + toward * reach
    aside = direction(rng)
    while abs(aside.dot(toward)) > 0.8:
        aside = direction(rng)
    pole.location = shoulder + toward * (0.5 * reach) + aside * rng.uniform(1, 3)
    joint = rig.pose.bones["lower"]
    joint.lock_ik_y = joint.lock_ik_z = True
    ik = joint.constraints.new("IK")
    ik.target, ik.pole_target, ik.chain_count, ik.iterations = goal, pole, 2, 2000
    ik.pole_angle = rng.choice([0, math.pi / 2, -math.pi / 2, math.pi, rng.uniform(-math.pi, math.pi)])
    bpy.context.view_layer.update()
    posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    return {
        "upper": rows(data.bones["upper"].matrix_local),
        "lower": rows(data.bones["lower"].matrix_local),
        "length": round(lower.length, 6),
        "goal": point(goal.location),
        "pole": point(pole.location),
        "angle": round(ik.pole_angle, 6),
        "elbow": point(posed["lower"].head),
        "hand": point(posed["lower"].tail),
    }


rng = random.Random(7)
cases = [json.dumps(case(rng)) for _ in range(CASES)]
print("[\n" + ",\n".join(cases) + "\n]")
