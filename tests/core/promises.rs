//! Every promise of the README has a row in `docs/promises.md`, and every test that the page names exists.

use crate::book::{read, root};

/// Returns the `file.rs::function` that a row of a table names.
fn tests(row: &str) -> impl Iterator<Item = (&str, &str)> {
    let codes = row.split('`').skip(1).step_by(2);
    codes.filter_map(|code| code.split_once(".rs::"))
}

/// Returns the texts in bold.
fn bold(text: &str) -> impl Iterator<Item = &str> {
    text.split("**").skip(1).step_by(2)
}

fn rows(page: &str) -> impl Iterator<Item = &str> {
    let is_title = |row: &str| row.starts_with("| promise") || row.starts_with("| ---");
    let rows = page.lines().filter(|line| line.starts_with('|'));
    rows.filter(move |row| !is_title(row))
}

/// Returns `true` if a file has a test of that name.
fn has_test(file: &str, name: &str) -> bool {
    let start = format!("fn {name}(");
    let mut before = Vec::new();
    for line in file.lines().map(str::trim) {
        if line.starts_with(&start) {
            return before.iter().rev().any(|line| *line == "#[test]");
        }
        // A test's attributes stand right above it.
        if line.starts_with("#[") {
            before.push(line);
        } else {
            before.clear();
        }
    }
    false
}

#[test]
fn promises_name_tests_that_exist() {
    let (root, page) = (root(), read(&root().join("docs/promises.md")));
    let mut missing = Vec::new();
    let mut count = 0;
    for row in rows(&page) {
        let before = count;
        let lanes = row.split('`').filter_map(|code| code.strip_prefix(".ci/"));
        for lane in lanes {
            let name = lane.split(' ').next().expect("a part");
            if !root.join(".ci").join(name).is_file() {
                missing.push(format!(".ci/{lane}"));
            }
            count += 1;
        }
        for (file, name) in tests(row) {
            let path = root.join(format!("{file}.rs"));
            if !path.is_file() || !has_test(&read(&path), name) {
                missing.push(format!("{file}.rs::{name}"));
            }
            count += 1;
        }
        assert!(count > before, "no test is named: {row}");
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(count > 50, "{count}");
}

#[test]
fn promises_in_bold_in_the_readme_have_a_row() {
    let (readme, page) = (
        read(&root().join("README.md")),
        read(&root().join("docs/promises.md")),
    );
    // Before the first heading below the title.
    let top = readme.split("\n## ").next().expect("a part");
    let proved: Vec<&str> = rows(&page).flat_map(bold).collect();
    // The link to the book is bold, too.
    let promised: Vec<&str> = bold(top).filter(|text| !text.starts_with('[')).collect();
    assert!(promised.len() > 10, "{promised:?}");
    for text in promised {
        let text = text.replace("[Bevy](https://bevy.org)", "Bevy");
        assert!(
            proved.iter().any(|proved| text.starts_with(proved)),
            "docs/promises.md has no row for **{text}**"
        );
    }
}

#[test]
fn a_name_that_is_no_test_is_noticed() {
    let file = "#[test]\nfn tested() {}\n\nfn helper() {}\n\n#[test]\n#[ignore = \"slow\"]\nfn ignored() {}\n";
    assert!(has_test(file, "tested") && has_test(file, "ignored"));
    assert!(!has_test(file, "helper") && !has_test(file, "test"));
}
