//! Links the command at a fixed address: it starts a process for each cell, and each would relocate 365,000 pointers first.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = ["CARGO_CFG_TARGET_OS", "CARGO_CFG_TARGET_ENV"].map(env::var);
    if target == [Ok("linux".to_owned()), Ok("gnu".to_owned())] {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
