//! What statistics, tables and pages say about generated runs. One program, since each would link everything again.

mod export;
mod fixture;
mod hostile;
mod judged;
mod kinds;
mod machines;
mod page;
mod recomputed;
mod statistics;
mod timeline;
