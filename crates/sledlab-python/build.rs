//! Sets two environment variables for the extension: a fingerprint of its sources, the same on every machine and with
//! every compiler, and the Cargo profile.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Basis of FNV-1a over 128 bits: the hash distinguishes sources, it does not protect them.
const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

fn main() -> io::Result<()> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let mut files = vec![root.join("Cargo.lock")];
    for place in ["crates", "presets"] {
        println!("cargo::rerun-if-changed=../../{place}");
        sources(&root.join(place), &mut files)?;
    }
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    let mut named_files: Vec<_> = files.iter().map(|file| (name(file, &root), file)).collect();
    named_files.sort();
    let mut hash = BASIS;
    for (name, file) in named_files {
        // A checkout on Windows may end lines with CR LF.
        let contents = fs::read(file)?.into_iter().filter(|byte| *byte != b'\r');
        for byte in name.bytes().chain([0]).chain(contents).chain([0]) {
            hash = (hash ^ u128::from(byte)).wrapping_mul(PRIME);
        }
    }
    println!("cargo::rustc-env=SLEDLAB_SOURCES={hash:032x}");
    println!(
        "cargo::rustc-env=SLEDLAB_PROFILE={}",
        profile(Path::new(&env::var("OUT_DIR").expect("cargo sets it")))
    );
    Ok(())
}

/// Returns the folder of the Cargo profile, which no variable of a build script names: `OUT_DIR` is
/// `<target>/<profile>/build/<package>/out`.
fn profile(out_dir: &Path) -> String {
    let folder = out_dir.ancestors().nth(3).and_then(Path::file_name);
    folder.map_or_else(|| "unknown".into(), |name| name.to_string_lossy().into_owned())
}

/// The files below a directory that are compiled into the extension; all others are omitted.
fn sources(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        // Links lead to presets, whose files are found in their own directory.
        if entry.file_type()?.is_symlink() {
            continue;
        }
        let path = entry.path();
        let is_named = |name| path.file_name().is_some_and(|file_name| file_name == name);
        if path.is_dir() {
            if !["tests", "benches", "examples", "experiments"].into_iter().any(is_named) {
                sources(&path, files)?;
            }
        } else if path.extension().is_some_and(|ending| ending == "rs" || ending == "toml") {
            files.push(path);
        }
    }
    Ok(())
}

/// The path of a file below the root, written the same on every system.
fn name(file: &Path, root: &Path) -> String {
    let relative = file.strip_prefix(root).expect("it was found there");
    let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}
