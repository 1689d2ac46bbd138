//! Tells the adapter of std's own channel which version of std that is: the lock file does not.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
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
}
