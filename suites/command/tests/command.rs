//! The command as users run it: a small real run end to end, and one clear sentence for every kind of bad input.

#[path = "command/ground.rs"]
mod ground;

#[path = "command/claims.rs"]
mod claims;
#[path = "command/costs.rs"]
mod costs;
#[path = "command/foreign.rs"]
mod foreign;
#[path = "command/misuse.rs"]
mod misuse;
#[path = "command/paired.rs"]
mod paired;
#[path = "command/proved.rs"]
mod proved;
#[path = "command/resumed.rs"]
mod resumed;
#[path = "command/shown.rs"]
mod shown;
#[path = "command/stated/mod.rs"]
mod stated;
#[path = "command/substituted.rs"]
mod substituted;
#[path = "command/used.rs"]
mod used;
