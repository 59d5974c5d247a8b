//! VRM's names of bones, and the roles that they are.

/// Bones that aren't one of two, by VRM 1.0's names, with their roles.
const MIDDLE: [(&str, &str); 7] = [
    ("hips", "hips"),
    ("spine", "spine.1"),
    ("chest", "spine.2"),
    ("upperChest", "spine.3"),
    ("neck", "neck.1"),
    ("head", "head"),
    ("jaw", "jaw"),
];

/// Bones of the left and the right, with their roles.
const SIDED: [(&str, &str, &str); 24] = [
    ("leftEye", "rightEye", "eye"),
    ("leftShoulder", "rightShoulder", "clavicle"),
    ("leftUpperArm", "rightUpperArm", "upper_arm"),
    ("leftLowerArm", "rightLowerArm", "forearm"),
    ("leftHand", "rightHand", "hand"),
    ("leftUpperLeg", "rightUpperLeg", "thigh"),
    ("leftLowerLeg", "rightLowerLeg", "shin"),
    ("leftFoot", "rightFoot", "foot"),
    ("leftToes", "rightToes", "toes"),
    ("leftThumbMetacarpal", "rightThumbMetacarpal", "thumb.1"),
    ("leftThumbProximal", "rightThumbProximal", "thumb.2"),
    ("leftThumbDistal", "rightThumbDistal", "thumb.3"),
    ("leftIndexProximal", "rightIndexProximal", "index.1"),
    ("leftIndexIntermediate", "rightIndexIntermediate", "index.2"),
    ("leftIndexDistal", "rightIndexDistal", "index.3"),
    ("leftMiddleProximal", "rightMiddleProximal", "middle.1"),
    (
        "leftMiddleIntermediate",
        "rightMiddleIntermediate",
        "middle.2",
    ),
    ("leftMiddleDistal", "rightMiddleDistal", "middle.3"),
    ("leftRingProximal", "rightRingProximal", "ring.1"),
    ("leftRingIntermediate", "rightRingIntermediate", "ring.2"),
    ("leftRingDistal", "rightRingDistal", "ring.3"),
    ("leftLittleProximal", "rightLittleProximal", "little.1"),
    (
        "leftLittleIntermediate",
        "rightLittleIntermediate",
        "little.2",
    ),
    ("leftLittleDistal", "rightLittleDistal", "little.3"),
];

/// Returns a bone by VRM 1.0's name.
pub(super) fn bone(name: &str) -> Option<&'static str> {
    let middle = MIDDLE.iter().map(|(bone, _)| *bone);
    let sided = SIDED.iter().flat_map(|(left, right, _)| [*left, *right]);
    middle.chain(sided).find(|bone| *bone == name)
}

/// Returns a bone by VRM 0's name. It counts the joints of a thumb as those of other fingers.
pub(super) fn bone_of_vrm_0(name: &str) -> Option<&'static str> {
    match name {
        "leftThumbProximal" => Some("leftThumbMetacarpal"),
        "leftThumbIntermediate" => Some("leftThumbProximal"),
        "rightThumbProximal" => Some("rightThumbMetacarpal"),
        "rightThumbIntermediate" => Some("rightThumbProximal"),
        "leftThumbMetacarpal" | "rightThumbMetacarpal" => None,
        other => bone(other),
    }
}

/// Returns the name of a bone's role.
pub(super) fn role(bone: &str) -> Option<String> {
    let middle = MIDDLE.iter().find(|(name, _)| *name == bone);
    if let Some((_, role)) = middle {
        return Some((*role).to_owned());
    }
    SIDED.iter().find_map(|(left, right, role)| {
        let side = match bone {
            _ if bone == *left => "L",
            _ if bone == *right => "R",
            _ => return None,
        };
        Some(format!("{role}.{side}"))
    })
}
