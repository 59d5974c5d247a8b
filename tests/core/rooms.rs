//! Rooms import only rooms below them, and no files of a room import each other in circles.
//!
//! A module's use of its own submodules doesn't count: somebody has to put them together. A name that a module
//! re-exports is an import from the file that it comes from.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The rooms, each above those it may import.
const ROOMS: [&str; 12] = [
    "format",
    "model",
    "controller",
    "pose",
    "rig",
    "import",
    "record",
    "asset",
    "character",
    "render",
    "recorder",
    "inspector",
];

type Module = Vec<String>;

/// The files of the crate by module, without comments, strings, and tests.
struct Sources {
    texts: BTreeMap<Module, String>,
    /// For each module, its `use` declarations: the path, and the name that it has here.
    uses: BTreeMap<Module, Vec<(Module, String)>>,
}

impl Sources {
    fn read() -> Self {
        let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        let src = folders
            .map(|folder| folder.join("src"))
            .find(|src| src.join("lib.rs").is_file())
            .expect("the crate has sources");
        let mut texts = BTreeMap::new();
        collect(&src, &mut Vec::new(), &mut texts);
        Self::new(texts)
    }

    fn new(texts: BTreeMap<Module, String>) -> Self {
        let uses = texts
            .iter()
            .map(|(module, text)| (module.clone(), uses(text)))
            .collect();
        Self { texts, uses }
    }

    /// Returns the module that a path leads to, as seen from `module`. `None` if it leads out of the crate.
    fn resolve(&self, module: &Module, path: &[String], depth: usize) -> Option<Module> {
        let supers = path.iter().take_while(|part| *part == "super").count();
        let (mut at, mut rest) = match path.first()?.as_str() {
            "crate" => (Module::new(), &path[1..]),
            "self" => (module.clone(), &path[1..]),
            "super" => (
                module[..module.len().checked_sub(supers)?].to_vec(),
                &path[supers..],
            ),
            first if self.child(module, first).is_some() => (module.clone(), path),
            _ => return None,
        };
        while let Some(child) = rest.first().and_then(|name| self.child(&at, name)) {
            (at, rest) = (child, &rest[1..]);
        }
        // The name may come from another file.
        let import = rest.first().and_then(|name| {
            let (path, _) = self
                .uses
                .get(&at)?
                .iter()
                .find(|(_, as_name)| as_name == name)?;
            (depth < 8).then(|| self.resolve(&at, path, depth + 1))?
        });
        Some(import.unwrap_or(at))
    }

    fn child(&self, module: &Module, name: &str) -> Option<Module> {
        let child = [module.as_slice(), &[name.to_owned()]].concat();
        self.texts.contains_key(&child).then_some(child)
    }

    /// Returns the other modules that a module imports.
    fn imports(&self, module: &Module) -> BTreeSet<Module> {
        let inline = paths(&self.texts[module]);
        let declared = self.uses[module].iter().map(|(path, _)| path.clone());
        let targets = declared
            .chain(inline)
            .filter_map(|path| self.resolve(module, &path, 0));
        targets
            .filter(|target| !target.is_empty() && !target.starts_with(module))
            .collect()
    }
}

fn collect(folder: &Path, module: &mut Module, texts: &mut BTreeMap<Module, String>) {
    let paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    for path in paths {
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        let is_root = module.is_empty() && ["bin", "lib", "main"].contains(&&*stem);
        if is_root {
            continue;
        }
        if path.is_dir() && stem == "tests" {
            continue;
        }
        if path.is_dir() {
            module.push(stem);
            collect(&path, module, texts);
            module.pop();
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let own = if stem == "mod" { vec![] } else { vec![stem] };
            let name = [module.as_slice(), &own].concat();
            texts.insert(name, code(&fs::read_to_string(&path).unwrap()));
        }
    }
}

/// Returns a file's code without comments and contents of strings.
fn code(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap())
        .map(|line| line.split('"').step_by(2).collect::<Vec<_>>().join("\"\""));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the paths of all `use` declarations, and the names they bring in.
fn uses(text: &str) -> Vec<(Module, String)> {
    let declarations = text.split("use ").skip(1);
    let mut all = Vec::new();
    for declaration in declarations {
        if let Some((tree, _)) = declaration.split_once(';') {
            expand(tree, &Module::new(), &mut all);
        }
    }
    all
}

/// Adds the paths of a `use` tree such as `super::{a::B, c as d}`.
fn expand(tree: &str, before: &Module, all: &mut Vec<(Module, String)>) {
    let (path, group) = match tree.split_once('{') {
        Some((path, group)) => (path, group.rsplit_once('}').map(|(group, _)| group)),
        None => (tree, None),
    };
    let (path, name) = path.split_once(" as ").unwrap_or((path, ""));
    let parts = path
        .split("::")
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let mut full = before.clone();
    full.extend(parts.map(str::to_owned));
    let Some(group) = group else {
        if full.len() > 1 && full.last().is_some_and(|last| last == "self") {
            full.pop();
        }
        let name = match name.trim() {
            "" => full.last().cloned().unwrap_or_default(),
            name => name.to_owned(),
        };
        all.push((full, name));
        return;
    };
    let (mut depth, mut start) = (0, 0);
    for (at, c) in group.char_indices().chain([(group.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !group[start..at].trim().is_empty() {
                    expand(&group[start..at], &full, all);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// Returns all paths outside of `use` declarations.
fn paths(text: &str) -> Vec<Module> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
    let paths = words.filter(|word| word.contains("::") && !word.starts_with(':'));
    paths
        .map(|path| {
            path.split("::")
                .filter(|part| !part.is_empty())
                .map(str::to_owned)
                .collect()
        })
        .collect()
}

#[test]
fn rooms_import_only_rooms_below() {
    let sources = Sources::read();
    let level = |room: &str| ROOMS.iter().position(|other| *other == room);
    let mut upward = Vec::new();
    for module in sources.texts.keys() {
        for target in sources.imports(module) {
            if let (Some(own), Some(other)) = (level(&module[0]), level(&target[0]))
                && other > own
            {
                upward.push(format!(
                    "{} imports {}",
                    module.join("::"),
                    target.join("::")
                ));
            }
        }
    }
    assert!(upward.is_empty(), "{upward:#?}");
}

/// Returns the files of circles, and what lies between two circles.
fn circles(sources: &Sources) -> Vec<String> {
    let imports: BTreeMap<&Module, BTreeSet<Module>> = sources
        .texts
        .keys()
        .map(|module| {
            let mut targets = sources.imports(module);
            targets.retain(|target| target[0] == module[0]);
            (module, targets)
        })
        .collect();
    in_circles(&imports)
}

/// Returns the files that lead to each other in circles, and what lies between two circles.
fn in_circles(imports: &BTreeMap<&Module, BTreeSet<Module>>) -> Vec<String> {
    // A file in a circle leads to one, and one leads to it.
    let mut rest: BTreeSet<&Module> = imports.keys().copied().collect();
    loop {
        let is_within = |module: &&Module| {
            imports[*module].iter().any(|to| rest.contains(to))
                && rest.iter().any(|from| imports[*from].contains(*module))
        };
        let next: BTreeSet<&Module> = rest.iter().copied().filter(is_within).collect();
        if next.len() == rest.len() {
            break;
        }
        rest = next;
    }
    let describe = |module: &&Module| {
        let to = imports[*module].iter().filter(|to| rest.contains(to));
        let to: Vec<String> = to.map(|to| to.join("::")).collect();
        format!("{} leads to {}", module.join("::"), to.join(", "))
    };
    rest.iter().map(describe).collect()
}

#[test]
fn files_of_a_room_do_not_import_each_other_in_circles() {
    let circles = circles(&Sources::read());
    assert!(circles.is_empty(), "{circles:#?}");
}

/// The parts of a controller, whose methods are compared. Those of small types have names like those of collections.
const PARTS: [&str; 6] = [
    "AnimationController",
    "AnimationTrack",
    "Advance<'_>",
    "Director",
    "StateRuns",
    "Tracks",
];

/// Returns the names of all methods that a file defines, each with the type that it's defined on.
fn methods(text: &str) -> Vec<(&str, &str)> {
    let mut all = Vec::new();
    for block in text.split("\nimpl ").skip(1) {
        let (of, body) = block.split_once(" {").unwrap_or_default();
        let body = body.split("\n}").next().unwrap_or("");
        let names = body.split("fn ").skip(1);
        all.extend(names.map(|rest| (of, rest.split(['(', '<']).next().unwrap_or(""))));
    }
    all
}

/// Returns the files of a room that call each other's methods in circles, and what lies between two circles. Names that are
/// defined twice are left out: a call doesn't tell which of them it means.
fn circles_of_calls(sources: &Sources, room: &str) -> Vec<String> {
    let mut files: BTreeMap<&str, Vec<(&str, &Module)>> = BTreeMap::new();
    for (module, text) in &sources.texts {
        for (of, name) in methods(text) {
            files.entry(name).or_default().push((of, module));
        }
    }
    let defined_by = |name: &str| match files.get(name).map(Vec::as_slice) {
        Some([(of, module)]) if PARTS.contains(of) && module[0] == room => Some(*module),
        _ => None,
    };
    let in_room = sources.texts.iter().filter(|(module, _)| module[0] == room);
    let calls = in_room.map(|(module, text)| {
        let words = text.split('.').skip(1);
        let names = words.filter_map(|word| word.split_once('(').map(|(name, _)| name.trim()));
        let mut to: BTreeSet<Module> = names.filter_map(defined_by).cloned().collect();
        to.remove(module);
        (module, to)
    });
    in_circles(&calls.collect())
}

#[test]
fn files_of_the_controller_do_not_call_each_other_in_circles() {
    let circles = circles_of_calls(&Sources::read(), "controller");
    assert!(circles.is_empty(), "{circles:#?}");
}

#[test]
fn circles_of_calls_are_found() {
    let found = |b: &str| {
        let c = "\nimpl Director {\n    fn in_c(&self) { self.y.in_b(1) }\n}\n";
        let texts = [("a::b", b), ("a::c", c)].map(|(module, text)| {
            let module = module.split("::").map(str::to_owned).collect();
            (module, code(text))
        });
        circles_of_calls(&Sources::new(texts.into()), "a")
    };
    let circle = "\nimpl Tracks {\n    fn in_b(&self, n: u8) { n.in_c() }\n}\n";
    assert_eq!(found(circle), ["a::b leads to a::c", "a::c leads to a::b"]);
    let line = "\nimpl Tracks {\n    fn in_b(&self, n: u8) {}\n}\n";
    assert_eq!(found(line), [""; 0]);
}

#[test]
fn circles_are_found_through_groups_re_exports_and_paths() {
    let found = |files: &[(&str, &str)]| {
        let texts = files.iter().map(|(module, text)| {
            let module = module.split("::").map(str::to_owned).collect();
            (module, code(text))
        });
        circles(&Sources::new(texts.collect()))
    };
    let room = "pub use b::{B, C as D};\nuse c::run;";
    let cases = [
        ("use super::{c::{self, X}, y};", "use crate::a::b;"),
        ("fn f() { super::c::run() }", "use super::{\n    B,\n};"),
        ("use super::run;", "use super::D as Other;"),
    ];
    for (b, c) in cases {
        let files = [("a", room), ("a::b", b), ("a::c", c)];
        assert_eq!(found(&files), ["a::b leads to a::c", "a::c leads to a::b"]);
    }
    let fine = [
        ("use super::c::X;", "// use super::b;\nfn f() {}"),
        ("use super::A;", "use super::b::B;"),
        ("use super::c::X;", "const TEXT: &str = \"use super::b;\";"),
    ];
    for (b, c) in fine {
        let files = [("a", room), ("a::b", b), ("a::c", c)];
        assert_eq!(found(&files), [""; 0], "{b} {c}");
    }
}
