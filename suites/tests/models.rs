//! Models, each explored in a process of its own: first those of the facade itself, in each world.
//!
//! The same source is included in each world's module below; there `sync` and `W` are that world.

use std::process::ExitCode;

use flowmeter_suites::isolation::{self, Model};

mod std_world {
    use flowmeter_harness::sync::std::{self as sync, Std as W};
    include!("models/primitives.rs");
    include!("models/time.rs");
}

mod loom_world {
    use flowmeter_harness::sync::loom::{self as sync, Loom as W};
    include!("models/primitives.rs");
    include!("models/time.rs");
    include!("models/checked.rs");
    include!("models/mischief.rs");
}

mod shuttle_world {
    use flowmeter_harness::sync::shuttle::{self as sync, Shuttle as W};
    include!("models/primitives.rs");
    include!("models/time.rs");
    include!("models/checked.rs");
    include!("models/mischief.rs");
}

mod sim_world {
    use flowmeter_harness::sync::shuttle::{self as sync, Sim as W};
    include!("models/primitives.rs");
    include!("models/time.rs");
}

#[path = "models/callbacks.rs"]
mod callbacks;
#[path = "models/executors.rs"]
mod executors;
#[path = "models/explored.rs"]
mod explored;
#[path = "models/figures.rs"]
mod figures;
#[path = "models/locks.rs"]
mod locks;
#[path = "models/process.rs"]
mod process;
#[path = "models/schedulers.rs"]
mod schedulers;
#[path = "models/schedules.rs"]
mod schedules;
#[path = "models/sites.rs"]
mod sites;

fn main() -> ExitCode {
    let mut models: Vec<Model> = Vec::new();
    models.extend(std_world::models());
    models.extend(std_world::time_models());
    models.extend(loom_world::models());
    models.extend(loom_world::time_models());
    models.extend(loom_world::checked());
    models.extend(loom_world::mischief_models());
    models.extend(shuttle_world::models());
    models.extend(shuttle_world::time_models());
    models.extend(shuttle_world::checked());
    models.extend(shuttle_world::mischief_models());
    models.extend(sim_world::models());
    models.extend(sim_world::time_models());
    models.extend(executors::models());
    models.extend(explored::models());
    models.extend(schedulers::models());
    models.extend(schedules::models());
    models.extend(callbacks::models());
    models.extend(figures::models());
    models.extend(locks::models());
    models.extend(process::models());
    models.extend(sites::models());
    isolation::main(models)
}
