//! Records the version of the compiler that builds the engine: a measurement without it cannot be repeated.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC");
    let Some(rustc) = env::var_os("RUSTC") else {
        return;
    };
    // Where rustc does not answer, the records say "unknown".
    if let Ok(output) = Command::new(rustc).arg("--version").output()
        && let Ok(version) = String::from_utf8(output.stdout)
    {
        println!("cargo::rustc-env=FLOWMETER_RUSTC={}", version.trim());
    }
}
