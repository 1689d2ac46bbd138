//! From the records of a run to statistics, terminal tables and one HTML page.
//!
//! [`estimate`] turns runs into [`Estimates`], which are stored beside the records. All output is made
//! from them only: in the terminal ([`rank_table`], [`cmp_table`]), as JSON ([`rank_rows`],
//! [`cmp_rows`]) and as a page ([`render`]). So all three agree. Invariant: a cell with a failure has
//! no number anywhere. [`machines()`] decides which runs are one sample.
//!
//! ```no_run
//! use flowmeter_records::read_run;
//! use flowmeter_reports::{
//!     DEFAULT_WIDTH, ReportError, Style, Texts, machines, rank_table, render_machines,
//! };
//!
//! # fn main() -> Result<(), ReportError> {
//! let runs = vec![read_run("runs/before".as_ref())?, read_run("runs/after".as_ref())?];
//! let machines = machines(runs)?;
//! for machine in &machines {
//!     print!("{}", rank_table(machine.estimates(), DEFAULT_WIDTH, Style::Plain));
//! }
//! let page = render_machines(&machines, &Texts::default())?;
//! # let _ = page;
//! # Ok(())
//! # }
//! ```

mod chart;
pub mod claims;
mod error;
mod export;
mod html;
mod machines;
mod rows;
mod sighting;
mod terminal;
mod texts;
mod timeline;

pub use flowmeter_statistics as statistics;
use statistics::{checked, number};

pub use checked::{Checked, SELF_CHECKED};
pub use error::ReportError;
pub use export::{bencher, csv, github_action_benchmark};
pub use html::{render, render_machines};
pub use machines::{Machine, machines};
pub use rows::{CellRow, CmpRow, RankRow, cmp_rows, rank_rows};
pub use sighting::{Sighting, sighting_table, sightings};
pub use statistics::{
    Call, Change, Diff, Estimates, Moved, Pair, Paired, Stop, Verdict, diff, estimate,
    estimates_of, moved, paired,
};
pub use terminal::{
    DEFAULT_WIDTH, Style, cmp_table, diff_table, given_up, layouts_table, paired_markdown,
    paired_table, rank_table,
};
pub use texts::Texts;
pub use timeline::{About, timeline_page};
