//! Passes the version of std to the adapter of std's channel, and writes the copy of the sources that mutants are made
//! of.

#[cfg(feature = "mutants")]
mod edit;
#[cfg(feature = "mutants")]
mod mutants;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=RUSTC");
    let rustc = env::var_os("RUSTC").expect("cargo names the compiler to build scripts");
    let answer = Command::new(rustc)
        .arg("--version")
        .output()
        .expect("the compiler that cargo names runs");
    // "rustc 1.95.0 (59807616e 2026-04-14)"
    let answer = String::from_utf8_lossy(&answer.stdout);
    let version = answer.split_whitespace().nth(1).unwrap_or("unknown");
    println!("cargo::rustc-env=FLOWMETER_STD_VERSION={version}");

    println!(
        "cargo::rerun-if-changed={}",
        impls().join("build").display()
    );
    #[cfg(feature = "mutants")]
    mutants::write();
}

/// The folder of these sources. The twins, each in a folder below it, share it.
fn impls() -> PathBuf {
    // Read at run time: the script may have been compiled in a checkout that has moved since.
    let package = env::var_os("CARGO_MANIFEST_DIR").expect("cargo names the package");
    let package = Path::new(&package);
    let twin = !package.join("build").exists();
    let folder = if twin {
        package.parent()
    } else {
        Some(package)
    };
    folder.expect("a twin is inside impls").to_owned()
}
