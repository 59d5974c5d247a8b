//! FBX files as text, made object by object.

use std::fmt::{Display, Write};

/// Ticks of the file's clock.
const SECOND: f64 = 46_186_158_000.0;

/// What a file contains.
#[derive(Clone)]
pub struct File {
    objects: String,
    connections: String,
    next: u64,
    /// `(axis, sign)` of what points up, to the front and to the right.
    axes: [(u8, i8); 3],
    /// Centimeters.
    unit: f64,
}

/// Y up, +Z to the front.
pub const Y_UP: [(u8, i8); 3] = [(1, 1), (2, 1), (0, 1)];
/// Z up, −Y to the front.
pub const Z_UP: [(u8, i8); 3] = [(2, 1), (1, -1), (0, 1)];

/// A joint of a skin.
pub struct Cluster {
    pub node: u64,
    pub weights: Vec<(usize, f64)>,
    /// Where the mesh and the joint were when the skin was bound, as columns.
    pub mesh: glam::DMat4,
    pub joint: glam::DMat4,
}

/// What happens after a key.
#[derive(Clone, Copy)]
pub enum After {
    Linear,
    /// A spline, with the slopes at both ends.
    Cubic(f64, f64),
    Step,
}

impl Default for File {
    fn default() -> Self {
        Self {
            objects: String::new(),
            connections: String::new(),
            next: 1000,
            axes: Y_UP,
            unit: 100.0,
        }
    }
}

fn list(out: &mut String, name: &str, numbers: &[impl Display]) {
    let text: Vec<String> = numbers.iter().map(|number| number.to_string()).collect();
    let _ = writeln!(
        out,
        "{name}: *{} {{ a: {} }}",
        numbers.len(),
        text.join(",")
    );
}

impl File {
    /// Creates an empty file with these axes, in a unit of so many centimeters.
    pub fn new(axes: [(u8, i8); 3], unit: f64) -> Self {
        Self {
            axes,
            unit,
            ..Self::default()
        }
    }

    /// Adds an object of a class, with its contents. Returns its number.
    pub fn object(
        &mut self,
        class: &str,
        prefix: &str,
        name: &str,
        kind: &str,
        contents: &str,
    ) -> u64 {
        self.next += 1;
        let id = self.next;
        let _ = writeln!(
            self.objects,
            "{class}: {id}, \"{prefix}::{name}\", \"{kind}\" {{\n{contents}\n}}"
        );
        id
    }

    pub fn connect(&mut self, child: u64, parent: u64) {
        let _ = writeln!(self.connections, "C: \"OO\",{child},{parent}");
    }

    pub fn connect_to(&mut self, child: u64, parent: u64, property: &str) {
        let _ = writeln!(
            self.connections,
            "C: \"OP\",{child},{parent},\"{property}\""
        );
    }

    /// Adds a node below another, or 0. Properties are a name and three numbers each.
    pub fn node(
        &mut self,
        name: &str,
        kind: &str,
        parent: u64,
        properties: &[(&str, [f64; 3])],
    ) -> u64 {
        let mut contents = String::from("Version: 232\nProperties70: {\n");
        for (property, [x, y, z]) in properties {
            let _ = match *property {
                "InheritType" | "RotationOrder" => {
                    writeln!(contents, "P: \"{property}\", \"enum\", \"\", \"\",{x}")
                }
                _ if property.starts_with("Lcl ") => {
                    writeln!(
                        contents,
                        "P: \"{property}\", \"{property}\", \"\", \"A\",{x},{y},{z}"
                    )
                }
                _ => writeln!(
                    contents,
                    "P: \"{property}\", \"Vector3D\", \"Vector\", \"\",{x},{y},{z}"
                ),
            };
        }
        contents += "P: \"RotationActive\", \"bool\", \"\", \"\",1\n}\n";
        let id = self.object("Model", "Model", name, kind, &contents);
        self.connect(id, parent);
        if kind == "LimbNode" {
            let bone = self.object(
                "NodeAttribute",
                "NodeAttribute",
                name,
                kind,
                "TypeFlags: \"Skeleton\"",
            );
            self.connect(bone, id);
        }
        id
    }

    /// Adds a mesh to a node. `more` are further contents, such as texture coordinates.
    pub fn mesh(
        &mut self,
        node: u64,
        positions: &[[f64; 3]],
        polygons: &[&[i32]],
        more: &str,
    ) -> u64 {
        let mut contents = String::new();
        list(&mut contents, "Vertices", positions.as_flattened());
        let mut corners = Vec::new();
        for polygon in polygons {
            corners.extend_from_slice(&polygon[..polygon.len() - 1]);
            // The last one is marked as such.
            corners.push(!polygon[polygon.len() - 1]);
        }
        list(&mut contents, "PolygonVertexIndex", &corners);
        contents += more;
        let id = self.object("Geometry", "Geometry", "mesh", "Mesh", &contents);
        self.connect(id, node);
        id
    }

    /// Adds a skin to a mesh.
    pub fn skin(&mut self, mesh: u64, clusters: &[Cluster]) -> u64 {
        self.skin_with(mesh, clusters, "")
    }

    /// The same with more to say of the skin.
    pub fn skin_with(&mut self, mesh: u64, clusters: &[Cluster], more: &str) -> u64 {
        let skin = format!("Version: 101{more}");
        let skin = self.object("Deformer", "Deformer", "", "Skin", &skin);
        self.connect(skin, mesh);
        for cluster in clusters {
            let mut contents = String::from("Version: 100\n");
            let (at, weights): (Vec<usize>, Vec<f64>) = cluster.weights.iter().copied().unzip();
            if !at.is_empty() {
                list(&mut contents, "Indexes", &at);
                list(&mut contents, "Weights", &weights);
            }
            let transform = cluster.joint.inverse() * cluster.mesh;
            list(&mut contents, "Transform", &transform.to_cols_array());
            list(
                &mut contents,
                "TransformLink",
                &cluster.joint.to_cols_array(),
            );
            let id = self.object("Deformer", "SubDeformer", "", "Cluster", &contents);
            self.connect(id, skin);
            self.connect(cluster.node, id);
        }
        skin
    }

    /// Adds a channel of blend shapes to a mesh, whose weight in percent is given. Each shape has the percentage at which it shows
    /// in full, and the vertices that it moves. Returns the channel.
    pub fn shapes(
        &mut self,
        mesh: u64,
        name: &str,
        weight: f64,
        shapes: &[(f64, &[(usize, [f64; 3])])],
    ) -> u64 {
        let deformer = "Version: 100";
        let deformer = self.object("Deformer", "Deformer", "shapes", "BlendShape", deformer);
        self.connect(deformer, mesh);
        let mut contents = format!("Version: 100\nDeformPercent: {weight}\n");
        let full: Vec<f64> = shapes.iter().map(|shape| shape.0).collect();
        list(&mut contents, "FullWeights", &full);
        let _ = write!(
            contents,
            "Properties70: {{\nP: \"DeformPercent\", \"Number\", \"\", \"A\",{weight}\n}}"
        );
        let channel = self.object(
            "Deformer",
            "SubDeformer",
            name,
            "BlendShapeChannel",
            &contents,
        );
        self.connect(channel, deformer);
        for (_, moved) in shapes {
            let (at, offsets): (Vec<usize>, Vec<[f64; 3]>) = moved.iter().copied().unzip();
            let mut contents = String::from("Version: 100\n");
            list(&mut contents, "Indexes", &at);
            list(&mut contents, "Vertices", offsets.as_flattened());
            list(&mut contents, "Normals", &vec![0.0; 3 * at.len()]);
            let shape = self.object("Geometry", "Geometry", name, "Shape", &contents);
            self.connect(shape, channel);
        }
        channel
    }

    /// Adds an animation stack with one layer. Returns both.
    pub fn stack(&mut self, name: &str, [begin, end]: [f64; 2]) -> (u64, u64) {
        let contents = format!(
            "Properties70: {{\nP: \"LocalStart\", \"KTime\", \"Time\", \"\",{}\nP: \"LocalStop\", \"KTime\", \"Time\", \"\",{}\n}}",
            ticks(begin),
            ticks(end)
        );
        let stack = self.object("AnimationStack", "AnimStack", name, "", &contents);
        let layer = self.layer(stack, 100.0, false);
        (stack, layer)
    }

    /// Adds a layer to a stack, with a weight in percent.
    pub fn layer(&mut self, stack: u64, weight: f64, is_additive: bool) -> u64 {
        let contents = format!(
            "Properties70: {{\nP: \"Weight\", \"Number\", \"\", \"A\",{weight}\nP: \"BlendMode\", \"enum\", \"\", \"\",{}\n}}",
            if is_additive { 0 } else { 2 }
        );
        let layer = self.object("AnimationLayer", "AnimLayer", "layer", "", &contents);
        self.connect(layer, stack);
        layer
    }

    /// Adds curves for a property of an object. Each has an axis, and keys of seconds and values.
    pub fn animate(
        &mut self,
        layer: u64,
        object: u64,
        property: &str,
        curves: &[(&str, &[(f64, f64, After)])],
        extrapolation: &str,
    ) {
        let mut defaults = String::from("Properties70: {\n");
        for (axis, keys) in curves {
            let first = keys.first().map_or(0.0, |key| key.1);
            let _ = writeln!(defaults, "P: \"d|{axis}\", \"Number\", \"\", \"A\",{first}");
        }
        defaults += "}";
        let node = self.object("AnimationCurveNode", "AnimCurveNode", "", "", &defaults);
        self.connect(node, layer);
        self.connect_to(node, object, property);
        for (axis, keys) in curves {
            let mut contents = String::from("Default: 0\nKeyVer: 4008\n");
            let times: Vec<i64> = keys.iter().map(|key| ticks(key.0)).collect();
            list(&mut contents, "KeyTime", &times);
            let values: Vec<f64> = keys.iter().map(|key| key.1).collect();
            list(&mut contents, "KeyValueFloat", &values);
            let flags: Vec<i64> = keys
                .iter()
                .map(|key| match key.2 {
                    After::Step => 2,
                    After::Linear => 4,
                    After::Cubic(..) => 8 | 0x400,
                })
                .collect();
            list(&mut contents, "KeyAttrFlags", &flags);
            // Numbers in single precision, bit by bit.
            let bits = |slope: f64| (slope as f32).to_bits().cast_signed();
            let slopes: Vec<i32> = keys
                .iter()
                .flat_map(|key| match key.2 {
                    After::Cubic(leaving, arriving) => [bits(leaving), bits(arriving), 0, 0],
                    _ => [0; 4],
                })
                .collect();
            list(&mut contents, "KeyAttrDataFloat", &slopes);
            list(&mut contents, "KeyAttrRefCount", &vec![1; keys.len()]);
            contents += extrapolation;
            let curve = self.object("AnimationCurve", "AnimCurve", "", "", &contents);
            self.connect_to(curve, node, &format!("d|{axis}"));
        }
    }

    pub fn text(&self) -> String {
        let [up, front, right] = self.axes;
        let mut settings = String::new();
        for (name, (axis, sign)) in [("Up", up), ("Front", front), ("Coord", right)] {
            let _ = writeln!(
                settings,
                "P: \"{name}Axis\", \"int\", \"Integer\", \"\",{axis}"
            );
            let _ = writeln!(
                settings,
                "P: \"{name}AxisSign\", \"int\", \"Integer\", \"\",{sign}"
            );
        }
        format!(
            "; FBX 7.4.0 project file\nFBXHeaderExtension: {{\nFBXHeaderVersion: 1003\nFBXVersion: 7400\n}}\n\
             GlobalSettings: {{\nVersion: 1000\nProperties70: {{\n{settings}P: \"UnitScaleFactor\", \"double\", \"Number\", \"\",{}\n}}\n}}\n\
             Objects: {{\n{}}}\nConnections: {{\n{}}}\n",
            self.unit, self.objects, self.connections
        )
    }
}

fn ticks(seconds: f64) -> i64 {
    (seconds * SECOND).round() as i64
}
