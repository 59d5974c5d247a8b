//! The book and the README agree with themselves and with the crate. Their Rust code is compiled as documentation tests.

use bevy_marionette::import::{
    BlendSpaceEntry, CallbackEntry, ClipEntry, ClipRootMotion, ColliderEntry, ConstraintEntry,
    FeetEntry, GoalEntry, LegEntry, LookAtEntry, Manifest, MaskEntry, RetargetEntry,
    RootMotionEntry, SocketEntry, SpringEntry,
};
use bevy_marionette::rig::FeetLimits;
use serde::{
    Deserializer,
    de::{DeserializeOwned, Error as _, Visitor, value},
    forward_to_deserialize_any,
};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// The pages with code that only compiles with Bevy, which tests of this package don't see.
const LIB: &str = "src/lib.rs";

/// Returns the repository's folder, also from a package that only links to the book.
pub fn root() -> PathBuf {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let book = folders
        .find_map(|folder| folder.join("book").canonicalize().ok())
        .expect("the repository has a book");
    book.parent().expect("the book is in a folder").to_owned()
}

pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Returns the book's pages by file name.
fn pages() -> BTreeMap<String, String> {
    let files = fs::read_dir(root().join("book/src")).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let pages = paths.filter(|path| path.extension().is_some_and(|e| e == "md"));
    pages
        .map(|path| {
            (
                path.file_name().unwrap().to_str().unwrap().to_owned(),
                read(&path),
            )
        })
        .collect()
}

/// Returns the code blocks of a page whose info string begins with `language`.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let start = format!("```{language}");
    let mut blocks = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find(&start) {
        let body = &rest[at..];
        let body = &body[body.find('\n').unwrap() + 1..];
        let end = body.find("```").expect("a code block ends");
        blocks.push(&body[..end]);
        rest = &body[end + 3..];
    }
    blocks
}

/// Returns the targets of a page's links and pictures, without those of code.
fn links(page: &str) -> Vec<&str> {
    let mut in_code = false;
    let lines = page.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        !in_code && !fence
    });
    let targets = lines.flat_map(|line| {
        line.match_indices("](").map(|(at, _)| {
            let target = &line[at + 2..];
            &target[..target.find(')').expect("a link ends in its line")]
        })
    });
    targets.collect()
}

/// Returns the names by which a page's headings are linked to.
fn anchors(page: &str) -> Vec<String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let name = |heading: &str| {
        let text = heading.trim_start_matches('#').trim().to_lowercase();
        text.chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect()
    };
    headings.map(name).collect()
}

#[test]
fn the_summary_lists_every_page_and_code_on_every_page_is_compiled() {
    let (pages, lib) = (pages(), read(&root().join(LIB)));
    for (name, page) in &pages {
        if name == "SUMMARY.md" {
            continue;
        }
        assert!(
            pages["SUMMARY.md"].contains(&format!("]({name})")),
            "{name} is not in SUMMARY.md"
        );
        if !blocks(page, "rust").is_empty() {
            assert!(
                lib.contains(&format!("\"book/src/{name}\"")),
                "{LIB} does not compile the code of {name}"
            );
        }
    }
}

#[test]
fn links_lead_somewhere() {
    let root = root();
    let mut files: Vec<PathBuf> = [
        "README.md",
        "COMPARE.md",
        "CONTRIBUTING.md",
        "ARCHITECTURE.md",
    ]
    .map(|name| root.join(name))
    .into();
    for folder in ["book/src", "docs", "docs/decisions"] {
        let paths = fs::read_dir(root.join(folder)).unwrap();
        let paths = paths.map(|file| file.unwrap().path());
        files.extend(paths.filter(|path| path.extension().is_some_and(|e| e == "md")));
    }
    let mut dead = Vec::new();
    for file in files {
        let page = read(&file);
        for link in links(&page) {
            if link.contains("://") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => file.clone(),
                path => file.parent().unwrap().join(path),
            };
            let leads = target.exists()
                && (anchor.is_empty() || anchors(&read(&target)).iter().any(|a| a == anchor));
            if !leads {
                dead.push(format!("{}: {link}", file.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
}

#[test]
fn manifests_in_the_book_are_valid() {
    let mut count = 0;
    for (name, page) in pages() {
        for block in blocks(&page, "ron") {
            let text = match block.trim() {
                whole if whole.starts_with('(') => whole.to_owned(),
                keys if keys.starts_with("callbacks:") => {
                    format!("(model: \"a.glb\", clips: {{ \"clip\": ({keys}) }})")
                }
                fields => format!("(model: \"a.glb\", {fields})"),
            };
            if let Err(error) = Manifest::parse(&name, text.as_bytes()) {
                panic!("{error}\n{text}");
            }
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}

/// Reads no value, but remembers the fields of the struct that was asked for.
struct FieldNames<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, value::Error> {
        Err(value::Error::custom("not a struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, value::Error> {
        *self.0 = fields;
        Err(value::Error::custom("only its fields"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

fn fields<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut fields: &[&str] = &[];
    let _ = T::deserialize(FieldNames(&mut fields));
    fields
}

#[test]
fn the_reference_documents_every_field_of_manifests() {
    let page = &pages()["manifests.md"];
    let all = [
        ("Manifest", fields::<Manifest>()),
        ("ClipEntry", fields::<ClipEntry>()),
        ("RetargetEntry", fields::<RetargetEntry>()),
        ("ClipRootMotion", fields::<ClipRootMotion>()),
        ("CallbackEntry", fields::<CallbackEntry>()),
        ("BlendSpaceEntry", fields::<BlendSpaceEntry>()),
        ("MaskEntry", fields::<MaskEntry>()),
        ("RootMotionEntry", fields::<RootMotionEntry>()),
        ("SocketEntry", fields::<SocketEntry>()),
        ("GoalEntry", fields::<GoalEntry>()),
        ("LookAtEntry", fields::<LookAtEntry>()),
        ("FeetEntry", fields::<FeetEntry>()),
        ("LegEntry", fields::<LegEntry>()),
        ("FeetLimits", fields::<FeetLimits>()),
        ("ConstraintEntry", fields::<ConstraintEntry>()),
        ("SpringEntry", fields::<SpringEntry>()),
        ("ColliderEntry", fields::<ColliderEntry>()),
    ];
    for (entry, fields) in all {
        assert!(!fields.is_empty(), "{entry} has no fields");
        for field in fields {
            assert!(
                page.contains(&format!("`{field}`")),
                "manifests.md does not describe `{field}` of {entry}"
            );
        }
    }
}

#[test]
fn the_quick_start_is_the_minimal_example() {
    let readme = read(&root().join("README.md"));
    let example = read(&root().join("examples/minimal.rs"));
    let code: Vec<&str> = example
        .lines()
        .skip_while(|line| line.starts_with("//!") || line.is_empty())
        .collect();
    let starts = blocks(&readme, "rust");
    assert_eq!(starts.len(), 1, "the README has one block of code");
    assert_eq!(starts[0].lines().collect::<Vec<_>>(), code);
}
