//! The skeleton of a baked file.

use super::stream::{Damaged, Plain, Reader, Stored, stored, stored_enums, write_list};
use crate::model::{
    BindPose, ColorBind, Expression, ExpressionOverride, Joint, JointTransform, Morphs, NodeSpace,
    Skeleton, SkeletonParts, TextureBind,
};
use glam::{Quat, Vec3};
use std::sync::Arc;

impl Stored for Skeleton {
    fn write(&self, to: &mut Vec<u8>) {
        self.parts().write(to);
    }

    fn read(from: &mut Reader) -> Result<Self, Damaged> {
        let parts: SkeletonParts = from.read()?;
        Ok(Self::from_parts(parts)?)
    }
}

stored! {
    SkeletonParts { joints, control, sides, nodes, bind_pose, bind_pose_is_adrift, morphs, roles }
    Joint { name, parent, rest, inverse_bind }
    NodeSpace { turn, offset, above, size }
    Expression { name, alias, morphs, is_binary, blink, look_at, mouth, colors, textures }
    ColorBind { material, property, value }
    TextureBind { material, scale, offset }
}

stored_enums! {
    ExpressionOverride { None = 0, Block = 1, Blend = 2 }
}

impl Plain for JointTransform {
    const SIZE: usize = Vec3::SIZE + Quat::SIZE + Vec3::SIZE;

    fn put(self, to: &mut [u8]) {
        let (translation, rest) = to.split_at_mut(Vec3::SIZE);
        let (rotation, scale) = rest.split_at_mut(Quat::SIZE);
        self.translation.put(translation);
        self.rotation.put(rotation);
        self.scale.put(scale);
    }

    fn get(from: &[u8]) -> Self {
        let (translation, rest) = from.split_at(Vec3::SIZE);
        let (rotation, scale) = rest.split_at(Quat::SIZE);
        Self {
            translation: Vec3::get(translation),
            rotation: Quat::get(rotation),
            scale: Vec3::get(scale),
        }
    }

    fn is_finite(self) -> bool {
        Self::is_finite(&self)
    }
}

impl Stored for BindPose {
    fn write(&self, to: &mut Vec<u8>) {
        let kind: u8 = match self {
            Self::Rest => 0,
            Self::Unknown => 1,
            Self::Other(_) => 2,
        };
        kind.write(to);
        if let Self::Other(pose) = self {
            pose.write(to);
        }
    }

    fn read(from: &mut Reader) -> Result<Self, Damaged> {
        match from.read::<u8>()? {
            0 => Ok(Self::Rest),
            1 => Ok(Self::Unknown),
            2 => Ok(Self::Other(from.read()?)),
            _ => Err("it has an unknown kind of bind pose".into()),
        }
    }
}

impl Stored for Morphs {
    fn write(&self, to: &mut Vec<u8>) {
        write_list(self.names(), to);
        write_list(self.rest(), to);
        write_list(self.own_expressions(), to);
    }

    fn read(from: &mut Reader) -> Result<Self, Damaged> {
        let (names, rest): (Vec<Arc<str>>, Vec<f32>) = from.read()?;
        if names.len() != rest.len() || names.len() > Self::MAX {
            return Err("it has more morph targets than weights, or too many".into());
        }
        let expressions: Vec<Expression> = from.read()?;
        let shown = expressions.iter().flat_map(|one| &one.morphs);
        if shown
            .clone()
            .any(|(morph, _)| usize::from(*morph) >= names.len())
        {
            return Err("an expression shows a morph target that isn't there".into());
        }
        let mut weights = rest.iter().chain(shown.map(|(_, share)| share));
        if weights.any(|weight| weight.abs() > Self::MOST_WEIGHT) {
            return Err("a weight is implausibly large".into());
        }
        Ok(Self::new(names.into_iter().zip(rest)).with_expressions(expressions))
    }
}
