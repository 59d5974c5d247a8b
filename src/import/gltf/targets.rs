//! Morph targets of a primitive → those of its part.

use super::{
    accessors::Accessor,
    json::{Semantic, Type},
    primitive::NodePrimitive,
    skin::{Base, PrimitiveReader},
};
use crate::{
    format::FormatError,
    import::{
        morph_normals::SmoothNormals,
        nodes::bind::{Binding, cofactors},
        report::Report,
        scene::Parts,
    },
    model::{MorphDelta, MorphTarget, is_near},
};
use glam::{DMat3, Vec3};

impl PrimitiveReader<'_> {
    /// Reads the targets of a primitive, whose positions, triangles and normals are complete. Those without
    /// normals get smooth ones; flat ones follow from positions alone.
    pub(super) fn read_targets(
        &self,
        primitive: &mut NodePrimitive,
        Binding { to_skin, .. }: &Binding,
        base: &Base,
        parts: &mut Parts,
        report: &Report,
    ) -> Result<(), FormatError> {
        let morphs = self.morphs.of_node(primitive.node);
        let matrix = to_skin.matrix3;
        let turned = cofactors(&matrix);
        let (mut smooth, mut targets) = (None, Vec::new());
        let contents = primitive.contents(self.accessors.root);
        for ((at, target), &morph) in contents.targets.iter().enumerate().zip(morphs) {
            let open = |semantic: Semantic| {
                let Some(index) = target.get(semantic) else {
                    return Ok(None);
                };
                let place = format!("{}.targets[{at}].{semantic}", primitive.place);
                let accessor = self
                    .accessors
                    .open(report, &place, index.value(), &[Type::Vec3])?;
                primitive.check_length(&accessor, &place, report)?;
                Ok(Some(accessor))
            };
            let positions = open(Semantic::Positions)?;
            // Those of a base without are computed.
            let of_base = |base: &Option<Accessor>, semantic| match base {
                Some(_) => open(semantic),
                None => Ok(None),
            };
            let normals = of_base(&base.normals, Semantic::Normals)?;
            let tangents = of_base(&base.tangents, Semantic::Tangents)?;
            // A direction's change, divided by the length of the base's, which is normalized.
            let direction = |list: &Accessor, vertex| {
                let direction = self.basis.direction(list.floats(vertex).into());
                direction.as_dvec3()
            };
            // A direction's change, divided by the length of the base's, which is normalized.
            let along = |list: &Option<Accessor>,
                         base: &Option<Accessor>,
                         matrix: &DMat3,
                         vertex: usize| {
                let (Some(list), Some(base)) = (list, base) else {
                    return Vec3::ZERO;
                };
                let change = *matrix * direction(list, vertex);
                let change = change / (*matrix * direction(base, vertex)).length();
                Some(change.as_vec3())
                    .filter(|v| is_near(*v))
                    .unwrap_or_default()
            };
            let deltas = primitive.vertices().map(|vertex| {
                let given = positions.as_ref();
                let given = given.map_or([0.0; 3], |list| list.floats(vertex));
                let offset = matrix * self.basis.point(given.into()).as_dvec3();
                MorphDelta {
                    position: parts.repairs.offset(offset.as_vec3()).unwrap_or_default(),
                    normal: along(&normals, &base.normals, &turned, vertex),
                    tangent: along(&tangents, &base.tangents, &matrix, vertex),
                }
            });
            let mut target = MorphTarget::new(morph, deltas);
            if target.vertices.is_empty() {
                continue;
            }
            if base.normals.is_some() && normals.is_none() {
                let part = &primitive.part;
                let smooth = smooth
                    .get_or_insert_with(|| SmoothNormals::new(&part.positions, &part.triangles));
                self.accessors
                    .charge(report, &primitive.place, smooth.work(&target))?;
                smooth.complete(&part.positions, &part.triangles, &mut target);
            }
            parts.admit_moves(report.file, target.vertices.len())?;
            targets.push(target);
        }
        targets.sort_by_key(|target| target.morph);
        primitive.part.morphs = targets;
        Ok(())
    }
}
