//! `marionette validate`: lists everything that is wrong with files.

use crate::{
    Outcome,
    open::{Opened, Rig, is_animation, open_animation, open_model},
    options::ImportArgs,
    read,
    report::{self, DiagnosticReport},
    term::{self, GREEN, RED, YELLOW, count, counted, printable},
};
use bevy_marionette::{
    format::{Diagnostic, Severity},
    import::FileKind,
};
use clap::Args;
use serde::Serialize;
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Lists everything that is wrong with files, compiler-style
///
/// Each file is read and imported as in a game, and each problem is reported with its file, line and column.
/// Directories are searched recursively for model, animation and manifest files. An .md5anim is checked
/// against the model with which it shares the most joints: one of the files given or, if it was found in a
/// directory, one in the same directory.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub struct Validate {
    /// Files and directories
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Treat warnings as errors
    #[arg(long)]
    deny_warnings: bool,
    /// Print a JSON document instead: {files: [{file, ok, diagnostics}], errors, warnings}
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    import: ImportArgs,
}

const AFTER_HELP: &str = "\
Examples:
  marionette validate soldier.m3d
  marionette validate knight.md5mesh *.md5anim
  marionette validate --deny-warnings assets/

Exit codes: 0 no errors (there may be warnings), 1 errors, 2 invalid command line.";

/// The diagnostics of a file.
struct Finding {
    name: String,
    diagnostics: Vec<Diagnostic>,
}

#[derive(Serialize)]
struct Summary<'a> {
    files: Vec<FileSummary<'a>>,
    errors: usize,
    warnings: usize,
}

#[derive(Serialize)]
struct FileSummary<'a> {
    file: &'a str,
    ok: bool,
    diagnostics: Vec<DiagnosticReport<'a>>,
}

impl Finding {
    fn count(&self, severity: Severity) -> usize {
        self.diagnostics
            .iter()
            .filter(|d| d.severity == severity)
            .count()
    }
}

impl Validate {
    pub fn run(self) -> Outcome {
        let (files, mut lost) = listed(&self.files);
        let mut findings = examine(&files, &self.import);
        findings.append(&mut lost);
        let errors = findings.iter().map(|f| f.count(Severity::Error)).sum();
        let warnings = findings.iter().map(|f| f.count(Severity::Warning)).sum();
        let mut out = term::out();
        if self.json {
            let files = findings.iter().map(|finding| FileSummary {
                file: &finding.name,
                ok: finding.count(Severity::Error) == 0,
                diagnostics: finding.diagnostics.iter().map(report::diagnostic).collect(),
            });
            serde_json::to_writer_pretty(
                &mut out,
                &Summary {
                    files: files.collect(),
                    errors,
                    warnings,
                },
            )?;
            writeln!(out)?;
        } else {
            write_text(&mut out, &findings, errors, warnings)?;
        }
        out.flush()?;
        Ok(errors == 0 && !(self.deny_warnings && warnings > 0))
    }
}

/// A file to validate.
struct Listed {
    path: PathBuf,
    /// `true` if the user named the file, `false` if it was found in a directory.
    named: bool,
}

/// Lists the files given and those in directories given. The second list holds directories with problems.
fn listed(paths: &[PathBuf]) -> (Vec<Listed>, Vec<Finding>) {
    let (mut files, mut lost) = (Vec::new(), Vec::new());
    for path in paths {
        if !path.is_dir() {
            files.push(Listed {
                path: path.clone(),
                named: true,
            });
            continue;
        }
        let before = files.len();
        walk(path, &mut |found| match found {
            Ok(path) => files.push(Listed { path, named: false }),
            Err((folder, error)) => lost.push(unreadable(&folder, &error)),
        });
        if files.len() == before {
            let name = path.to_string_lossy().into_owned();
            let warning = Diagnostic::warning(
                &name,
                "no .glb, .gltf, .vrm, .vrma, .fbx, .m3d, .md5mesh, .md5anim or .character.ron files found",
            );
            lost.push(Finding {
                name,
                diagnostics: vec![warning],
            });
        }
    }
    (files, lost)
}

fn unreadable(folder: &Path, error: &io::Error) -> Finding {
    let name = folder.to_string_lossy().into_owned();
    let message = format!("cannot be listed: {}", read::reason(error));
    Finding {
        diagnostics: vec![Diagnostic::error(&name, message)],
        name,
    }
}

/// Finds every file below `folder` with a known name, in order of path. Links to directories are not followed.
fn walk(folder: &Path, found: &mut impl FnMut(Result<PathBuf, (PathBuf, io::Error)>)) {
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries: io::Result<Vec<_>> = fs::read_dir(&folder).and_then(Iterator::collect);
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => {
                found(Err((folder, error)));
                continue;
            }
        };
        // Folders list their entries in any order.
        entries.sort_by_key(fs::DirEntry::file_name);
        let (below, files): (Vec<_>, Vec<_>) = entries
            .iter()
            .partition(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        // They are taken from the back, so the first comes last.
        folders.extend(below.iter().rev().map(|entry| entry.path()));
        for path in files.iter().map(|entry| entry.path()) {
            if FileKind::of_name(&path.to_string_lossy()).is_some() {
                found(Ok(path));
            }
        }
    }
}

/// Opens every file, models first, and keeps only diagnostics and rigs.
fn examine(files: &[Listed], import: &ImportArgs) -> Vec<Finding> {
    let mut findings: Vec<Option<Finding>> = files.iter().map(|_| None).collect();
    let mut rigs: Vec<Rig> = Vec::new();
    for (slot, file) in findings
        .iter_mut()
        .zip(files)
        .filter(|(_, file)| !is_animation(&file.path))
    {
        let opened = open_model(&file.path, import);
        rigs.extend(opened.rig());
        *slot = Some(finding(opened));
    }
    for (slot, file) in findings
        .iter_mut()
        .zip(files)
        .filter(|(_, file)| is_animation(&file.path))
    {
        let beside: Vec<&Rig> = rigs
            .iter()
            .filter(|rig| file.named || rig.is_beside(&file.path))
            .collect();
        *slot = Some(finding(open_animation(
            &file.path,
            &beside,
            file.named,
            &import.limits(),
        )));
    }
    findings.into_iter().flatten().collect()
}

fn finding(opened: Opened) -> Finding {
    Finding {
        name: opened.name,
        diagnostics: opened.diagnostics,
    }
}

fn write_text(
    out: &mut impl Write,
    findings: &[Finding],
    errors: usize,
    warnings: usize,
) -> io::Result<()> {
    for Finding { name, diagnostics } in findings {
        if diagnostics.is_empty() {
            writeln!(out, "{}: {GREEN}ok{GREEN:#}", printable(name))?;
        }
        for diagnostic in diagnostics {
            writeln!(out, "{}", term::diagnostic(diagnostic))?;
        }
    }
    let failed = findings
        .iter()
        .filter(|f| f.count(Severity::Error) > 0)
        .count();
    let clean = findings.iter().filter(|f| f.diagnostics.is_empty()).count();
    let mut groups = vec![(clean, format!("{GREEN}{} ok{GREEN:#}", count(clean)))];
    let warned = findings.len() - failed - clean;
    groups.push((warned, format!("{} usable with warnings", count(warned))));
    groups.push((failed, format!("{} unusable", count(failed))));
    let mut totals = vec![(errors, format!("{RED}{}{RED:#}", counted(errors, "error")))];
    totals.push((
        warnings,
        format!("{YELLOW}{}{YELLOW:#}", counted(warnings, "warning")),
    ));
    let [groups, totals] = [groups, totals].map(|list| {
        let list: Vec<String> = list
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(_, text)| text)
            .collect();
        list.join(", ")
    });
    let totals = if totals.is_empty() {
        totals
    } else {
        format!(" ({totals})")
    };
    writeln!(
        out,
        "\n{}: {groups}{totals}",
        counted(findings.len(), "file")
    )
}
