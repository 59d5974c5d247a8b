//! `marionette validate`: what is wrong with files.

use crate::{
    Outcome,
    open::{ImportArgs, Opened, Rig, is_animation, open_animation, open_model},
    report::{self, DiagnosticReport},
    term::{self, Paint, count, counted},
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

/// Lists everything that is wrong with files, as a compiler would
///
/// Each file is read and imported as a game would do it, and every finding is printed with its place.
/// Directories are searched for files whose names marionette knows, all the way down. An .md5anim is
/// checked against the model it shares most joints with: among the files named, or, for one found in a
/// directory, those beside it.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub struct Validate {
    /// Files and directories
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Counts warnings as errors
    #[arg(long)]
    deny_warnings: bool,
    /// Prints one JSON document instead: {files: [{file, ok, diagnostics}], errors, warnings}
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

Exit codes: 0 no errors (warnings alone are fine), 1 errors, 2 the command line is wrong.";

/// What was found about one file.
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
        self.diagnostics.iter().filter(|d| d.severity == severity).count()
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
            serde_json::to_writer_pretty(&mut out, &Summary { files: files.collect(), errors, warnings })?;
            writeln!(out)?;
        } else {
            write_text(&mut out, Paint::stdout(), &findings, errors, warnings)?;
        }
        out.flush()?;
        Ok(errors == 0 && !(self.deny_warnings && warnings > 0))
    }
}

/// A file to look at.
struct Listed {
    path: PathBuf,
    /// Whether the user named it, or a directory above it.
    named: bool,
}

/// The files named and those in the directories named, and what went wrong on the way.
fn listed(paths: &[PathBuf]) -> (Vec<Listed>, Vec<Finding>) {
    let (mut files, mut lost) = (Vec::new(), Vec::new());
    for path in paths {
        if !path.is_dir() {
            files.push(Listed { path: path.clone(), named: true });
            continue;
        }
        let before = files.len();
        walk(path, &mut |found| match found {
            Ok(path) => files.push(Listed { path, named: false }),
            Err((folder, error)) => lost.push(unreadable(&folder, &error)),
        });
        if files.len() == before {
            let name = path.to_string_lossy().into_owned();
            let warning = Diagnostic::warning(&name, "no .m3d, .md5mesh, .md5anim or .character.ron file in here");
            lost.push(Finding { name, diagnostics: vec![warning] });
        }
    }
    (files, lost)
}

fn unreadable(folder: &Path, error: &io::Error) -> Finding {
    let name = folder.to_string_lossy().into_owned();
    let message = format!("cannot list it: {}", crate::open::reason(error));
    Finding { diagnostics: vec![Diagnostic::error(&name, message)], name }
}

/// Every file below `folder` whose name is known, in order of path. Links to directories are not followed.
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
        entries.sort_by_key(fs::DirEntry::file_name);
        let (below, files): (Vec<_>, Vec<_>) =
            entries.iter().partition(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        // Taken from the back, so the first comes last.
        folders.extend(below.iter().rev().map(|entry| entry.path()));
        for path in files.iter().map(|entry| entry.path()) {
            if FileKind::of_name(&path.to_string_lossy()).is_some() {
                found(Ok(path));
            }
        }
    }
}

/// Opens every file, models first; of each only what was found is kept, and what animations need.
fn examine(files: &[Listed], import: &ImportArgs) -> Vec<Finding> {
    let mut findings: Vec<Option<Finding>> = files.iter().map(|_| None).collect();
    let mut rigs: Vec<Rig> = Vec::new();
    for (slot, file) in findings.iter_mut().zip(files).filter(|(_, file)| !is_animation(&file.path)) {
        let opened = open_model(&file.path, import);
        rigs.extend(opened.rig());
        *slot = Some(finding(opened));
    }
    for (slot, file) in findings.iter_mut().zip(files).filter(|(_, file)| is_animation(&file.path)) {
        let beside: Vec<&Rig> = rigs.iter().filter(|rig| file.named || rig.is_beside(&file.path)).collect();
        *slot = Some(finding(open_animation(&file.path, &beside, file.named, import.limits())));
    }
    findings.into_iter().flatten().collect()
}

fn finding(opened: Opened) -> Finding {
    Finding { name: opened.name, diagnostics: opened.diagnostics }
}

fn write_text(
    out: &mut impl Write,
    paint: Paint,
    findings: &[Finding],
    errors: usize,
    warnings: usize,
) -> io::Result<()> {
    for Finding { name, diagnostics } in findings {
        if diagnostics.is_empty() {
            writeln!(out, "{name}: {}", paint.green("ok"))?;
        }
        for diagnostic in diagnostics {
            writeln!(out, "{}", paint.diagnostic(diagnostic))?;
        }
    }
    let with_errors = findings.iter().filter(|f| f.count(Severity::Error) > 0).count();
    let clean = findings.iter().filter(|f| f.diagnostics.is_empty()).count();
    let mut groups = vec![(paint.green(format!("{} ok", count(clean))), clean)];
    let with_warnings = findings.len() - with_errors - clean;
    groups.push((format!("{} usable with warnings", count(with_warnings)), with_warnings));
    groups.push((format!("{} unusable", count(with_errors)), with_errors));
    groups.retain(|(_, number)| *number > 0);
    let groups: Vec<String> = groups.into_iter().map(|(text, _)| text).collect();
    let mut totals = Vec::new();
    if errors > 0 {
        totals.push(paint.red(counted(errors, "error")));
    }
    if warnings > 0 {
        totals.push(paint.yellow(counted(warnings, "warning")));
    }
    let totals = if totals.is_empty() { String::new() } else { format!(" ({})", totals.join(", ")) };
    writeln!(out, "\n{}: {}{totals}", counted(findings.len(), "file"), groups.join(", "))
}
