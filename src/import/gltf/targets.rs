//! Morph targets of a primitive → those of its part.

use super::{
    accessors::{Accessor, Accessors},
    draft::Draft,
    json::{Semantic, Type},
    morphs::FileMorphs,
    repairs::Repairs,
};
use crate::{
    format::FormatError,
    import::{
        Limits,
        axes::Basis,
        morph_normals::SmoothNormals,
        nodes::bind::{Binding, cofactors},
        report::Report,
    },
    model::{MorphDelta, MorphTarget, SkinPart, is_near},
};
use glam::{DMat3, Vec3};

/// The base shape of a part in its file.
pub(super) struct Base<'a> {
    pub(super) normals: Option<&'a Accessor<'a>>,
    pub(super) tangents: Option<&'a Accessor<'a>>,
}

/// Reads the targets of parts.
pub(super) struct Targets<'a> {
    pub(super) accessors: &'a Accessors<'a>,
    pub(super) basis: &'a Basis,
    pub(super) limits: &'a Limits,
    pub(super) morphs: &'a FileMorphs,
}

impl Targets<'_> {
    /// Reads the targets of a draft for its part, whose positions, triangles and normals are complete. Those without
    /// normals get smooth ones; flat ones follow from positions alone.
    pub(super) fn read(
        &self,
        draft: &Draft,
        Binding { to_skin, .. }: &Binding,
        base: &Base,
        part: &mut SkinPart,
        repairs: &mut Repairs,
        report: &Report,
    ) -> Result<(), FormatError> {
        let morphs = self.morphs.of_node(draft.node);
        let matrix = to_skin.matrix3;
        let turned = cofactors(&matrix);
        let mut smooth = None;
        for ((at, target), &morph) in draft
            .primitive(self.accessors.root)
            .targets
            .iter()
            .enumerate()
            .zip(morphs)
        {
            let open = |semantic: Semantic| {
                let Some(index) = target.get(semantic) else {
                    return Ok(None);
                };
                let place = format!("{}.targets[{at}].{semantic}", draft.place);
                let accessor = self
                    .accessors
                    .open(report, &place, index.value(), &[Type::Vec3])?;
                draft.check_length(&accessor, &place, report)?;
                Ok(Some(accessor))
            };
            let positions = open(Semantic::Positions)?;
            // Those of a base without are computed.
            let normals = base
                .normals
                .map(|_| open(Semantic::Normals))
                .transpose()?
                .flatten();
            let tangents = base
                .tangents
                .map(|_| open(Semantic::Tangents))
                .transpose()?
                .flatten();
            // A direction's change, divided by the length of the base's, which is normalized.
            let along = |list: Option<&Accessor>,
                         base: Option<&Accessor>,
                         matrix: &DMat3,
                         vertex: usize| {
                let (Some(list), Some(base)) = (list, base) else {
                    return Vec3::ZERO;
                };
                let place = |v: [f32; 3]| *matrix * self.basis.direction(v.into()).as_dvec3();
                let change = place(list.floats(vertex)) / place(base.floats(vertex)).length();
                if is_near(change.as_vec3()) {
                    change.as_vec3()
                } else {
                    Vec3::ZERO
                }
            };
            let mut broken = 0;
            let deltas = draft.vertices.iter().map(|&vertex| {
                let vertex = vertex as usize;
                let given = positions
                    .as_ref()
                    .map_or([0.0; 3], |list| list.floats(vertex));
                let position = (matrix * self.basis.point(given.into()).as_dvec3()).as_vec3();
                broken += usize::from(!is_near(position));
                MorphDelta {
                    position: if is_near(position) {
                        position
                    } else {
                        Vec3::ZERO
                    },
                    normal: along(normals.as_ref(), base.normals, &turned, vertex),
                    tangent: along(tangents.as_ref(), base.tangents, &matrix, vertex),
                }
            });
            let mut target = MorphTarget::new(morph, deltas);
            repairs.morph_positions += broken;
            if base.normals.is_some() && normals.is_none() && !target.vertices.is_empty() {
                let smooth = smooth
                    .get_or_insert_with(|| SmoothNormals::new(&part.positions, &part.triangles));
                self.accessors
                    .charge(report, &draft.place, smooth.work(&target))?;
                smooth.complete(&part.positions, &part.triangles, &mut target);
            }
            if !target.vertices.is_empty() {
                repairs.morph_vertices += target.vertices.len();
                self.limits
                    .check_morph_vertices(report.file, repairs.morph_vertices)?;
                part.morphs.push(target);
            }
        }
        part.morphs.sort_by_key(|target| target.morph);
        Ok(())
    }
}
