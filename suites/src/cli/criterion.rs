//! Criterion's output: its estimates on disk, read back for the records of a run.
//!
//! Criterion keeps the estimates of all benchmarks it ever ran in its folder. Only those of one run are taken: the
//! files that were written since it began.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use flowmeter_records::Uncontended;
use serde::Deserialize;

/// `benchmark.json`: the id of a benchmark. A group is a scenario, a function in it an implementation.
#[derive(Deserialize)]
struct Benchmark {
    group_id: String,
    function_id: Option<String>,
}

/// `estimates.json`: nanoseconds per iteration, which is an operation.
#[derive(Deserialize)]
struct Estimates {
    mean: Estimate,
    /// Absent where each sample had as many iterations.
    slope: Option<Estimate>,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: f64,
    confidence_interval: Interval,
}

#[derive(Deserialize)]
struct Interval {
    lower_bound: f64,
    upper_bound: f64,
}

/// Criterion's estimates in its folder `home` that were written since then, by scenario and implementation.
///
/// Unreadable files are skipped: criterion also runs for its own sake, and its files are its own.
pub fn written_since(home: &Path, since: SystemTime) -> Vec<Uncontended> {
    let groups = folders(home).into_iter();
    let benchmarks = groups.flat_map(|group| folders(&group));
    let mut found: Vec<Uncontended> = benchmarks
        .filter_map(|benchmark| read(&benchmark.join("new"), since))
        .collect();
    found.sort_by(|a, b| {
        let key = |it: &Uncontended| (it.scenario.clone(), it.implementation.clone());
        key(a).cmp(&key(b))
    });
    found
}

fn folders(of: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(of).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn read(folder: &Path, since: SystemTime) -> Option<Uncontended> {
    let estimates = folder.join("estimates.json");
    if fs::metadata(&estimates).ok()?.modified().ok()? < since {
        return None;
    }
    let estimates: Estimates = serde_json::from_slice(&fs::read(estimates).ok()?).ok()?;
    let benchmark = fs::read(folder.join("benchmark.json")).ok()?;
    let benchmark: Benchmark = serde_json::from_slice(&benchmark).ok()?;
    let typical = estimates.slope.unwrap_or(estimates.mean);
    let nanos = typical.point_estimate;
    (nanos.is_finite() && nanos > 0.0).then_some(Uncontended {
        scenario: benchmark.group_id,
        implementation: benchmark.function_id?,
        nanos,
        lo: typical.confidence_interval.lower_bound,
        hi: typical.confidence_interval.upper_bound,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn estimate(nanos: f64) -> serde_json::Value {
        serde_json::json!({
            "confidence_interval": {
                "confidence_level": 0.95, "lower_bound": nanos - 1.0, "upper_bound": nanos + 2.0,
            },
            "point_estimate": nanos,
            "standard_error": 0.5,
        })
    }

    fn write(home: &Path, implementation: &str, mean: f64, slope: Option<f64>, at: SystemTime) {
        let folder = home
            .join("channels_create")
            .join(implementation)
            .join("new");
        fs::create_dir_all(&folder).unwrap();
        let benchmark = serde_json::json!({
            "group_id": "channels/create", "function_id": implementation, "value_str": null, "throughput": null,
            "full_id": format!("channels/create/{implementation}"), "directory_name": "x", "title": "x",
        });
        fs::write(folder.join("benchmark.json"), benchmark.to_string()).unwrap();
        let estimates = serde_json::json!({
            "mean": estimate(mean), "median": estimate(1.0), "slope": slope.map(estimate),
        });
        let path = folder.join("estimates.json");
        fs::write(&path, estimates.to_string()).unwrap();
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(at).unwrap();
    }

    #[test]
    fn only_what_was_written_since_then_is_read_and_the_slope_before_the_mean() {
        let home = tempfile::tempdir().unwrap();
        let began = SystemTime::now();
        let (before, after) = (
            began - Duration::from_secs(1),
            began + Duration::from_secs(1),
        );
        write(home.path(), "stale", 10.0, None, before);
        write(home.path(), "with-slope", 20.0, Some(30.0), after);
        write(home.path(), "mean-alone", 40.0, None, after);
        fs::create_dir_all(home.path().join("channels_create/report")).unwrap();
        let found = written_since(home.path(), began);
        let said: Vec<_> = found
            .iter()
            .map(|it| (&*it.scenario, &*it.implementation, it.nanos, it.lo, it.hi))
            .collect();
        assert_eq!(
            said,
            [
                ("channels/create", "mean-alone", 40.0, 39.0, 42.0),
                ("channels/create", "with-slope", 30.0, 29.0, 32.0),
            ]
        );
        assert_eq!(written_since(&home.path().join("nowhere"), began), []);
    }
}
