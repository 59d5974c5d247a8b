//! Lists the sample characters: a web server doesn't list folders.

use std::{env, fs, io, path::Path};

fn main() -> io::Result<()> {
    const ASSETS: &str = "../../assets";
    println!("cargo::rerun-if-changed={ASSETS}");
    let mut list = String::new();
    for folder in fs::read_dir(ASSETS)? {
        let folder = folder?;
        for file in fs::read_dir(folder.path()).into_iter().flatten() {
            let file = file?.file_name();
            let (folder, file) = (folder.file_name(), file.to_string_lossy());
            if file.ends_with(".character.ron") {
                list += &format!("{}/{file}\n", folder.to_string_lossy());
            }
        }
    }
    fs::write(
        Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("manifests.txt"),
        list,
    )
}
