//! The long form of `suite!`, in all worlds: a crate that is compiled once more against the facade of shuttle, and once
//! against that of loom.

flowmeter_plugin::suite! {
    adapter: "adapter.rs",
    of: flowmeter_impls,
    explored: flowmeter_impls_shuttle,
    loom: flowmeter_impls_loom;
    ThreadPerTask;
    Unordered;
}
