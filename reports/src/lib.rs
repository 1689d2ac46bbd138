//! From the records of a run to statistics, terminal tables and one HTML page.
