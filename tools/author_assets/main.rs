//! Writes the sample characters in `assets/`. See `README.md` beside this file for how they are made.
//!
//! ```sh
//! cargo run --example author_assets             # writes assets/
//! cargo run --example author_assets -- elsewhere
//! ```

#[path = "author.rs"]
mod author_assets;

use std::{env, fs, io, path::PathBuf};

fn main() -> io::Result<()> {
    let root = env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from("assets"), PathBuf::from);
    for (path, bytes) in author_assets::all() {
        let path = root.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        println!("{:>9} {}", bytes.len(), path.display());
        fs::write(path, bytes)?;
    }
    Ok(())
}
