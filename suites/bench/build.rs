//! Links the program that times with its functions in another order, where `measure --layouts` gives a seed for one.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=FLOWMETER_LAYOUT");
    if let Ok(seed) = std::env::var("FLOWMETER_LAYOUT") {
        // Each function is a section of its own. lld shuffles those that match by the seed.
        println!("cargo::rustc-link-arg-bin=flowmeter-timed=-Wl,--shuffle-sections=.text*={seed}");
    }
}
