//! Names of files inside files: the one place that decides where they lead.
//!
//! Files come from strangers, so a name must not lead to just any file of the machine. It may lead anywhere in the folder of
//! the file that it is in, or below. Whether it may lead above that is up to whoever reads the files: an app has an assets
//! folder, which it must not leave, and the command line has none.

/// Where a name inside a file leads, as seen from that file's folder. Paths have forward slashes and go nowhere and back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedFile {
    /// The path of a file in the folder or below.
    Below(String),
    /// The path of a file elsewhere, which begins with `../`.
    Above(String),
    /// The name alone of a file on another machine: its path is from the root, has a drive letter, or is a URL.
    Foreign(String),
}

impl NamedFile {
    /// Reads a name, with either kind of slash. Returns `None` for one that can't be a file's.
    pub fn of(written: &str) -> Option<Self> {
        let written = written.replace('\\', "/");
        let first = written.split('/').next().unwrap_or_default();
        let is_foreign = written.starts_with('/') || first.contains(':') || written.contains(":/");
        let mut steps: Vec<&str> = Vec::new();
        for step in written.split('/') {
            // Browsers take `%2e` for a dot, and Windows ignores blanks and dots after dots.
            let dots = step.to_ascii_lowercase().replace("%2e", ".");
            match dots.trim_end_matches(['.', ' ']) {
                "" if dots.starts_with("..") => match steps.last() {
                    Some(&last) if last != ".." => drop(steps.pop()),
                    _ => steps.push(".."),
                },
                "" if dots.is_empty() || dots.starts_with('.') => {}
                _ => steps.push(step),
            }
        }
        let name = *steps.last().filter(|name| **name != "..")?;
        if written.contains('\0') {
            return None;
        }
        if is_foreign {
            // `C:skin.png` is in whatever folder is the current one of the drive.
            let name = match name.as_bytes() {
                [_, b':', ..] => &name[2..],
                _ => name,
            };
            return (!name.is_empty()).then(|| Self::Foreign(name.to_owned()));
        }
        let path = steps.join("/");
        Some(match steps[0] {
            ".." => Self::Above(path),
            _ => Self::Below(path),
        })
    }

    /// Returns the path from the folder of the file with the name; `None` if it is foreign.
    pub fn path(self) -> Option<String> {
        match self {
            Self::Below(path) | Self::Above(path) => Some(path),
            Self::Foreign(_) => None,
        }
    }
}
