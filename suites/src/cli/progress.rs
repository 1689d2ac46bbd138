//! Progress with the time left, on the standard error if that is a terminal. Otherwise one plain line for each
//! scenario.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use flowmeter_measure::budget::RULE;
use flowmeter_measure::{Event, Progress, Standing};
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

use super::output::clean;

/// A bar over a known number of steps.
pub(super) fn steps(count: u64, what: &'static str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(count).with_prefix(what);
    let style = "{prefix} {bar:30} {pos}/{len}, {eta} left  {wide_msg}";
    bar.with_style(ProgressStyle::with_template(style).expect("a valid template"))
}

/// Shows the progress of a measuring run.
#[derive(Debug)]
pub(super) struct Measuring {
    bar: Option<ProgressBar>,
}

impl Measuring {
    pub(super) fn new() -> Measuring {
        let bar = io::stderr().is_terminal().then(|| {
            let style = "measuring {bar:30} {percent}%, {prefix} left  {wide_msg}";
            let style = ProgressStyle::with_template(style).expect("a valid template");
            ProgressBar::new(1).with_style(style).with_prefix("?")
        });
        Measuring { bar }
    }

    /// A line that stays visible.
    fn say(&self, text: &str) {
        // The text of an implementation may contain anything.
        let text = clean(text);
        match &self.bar {
            Some(bar) => bar.println(&text),
            None => {
                // Unreadable progress is no reason to stop measuring.
                let _ = writeln!(anstream::stderr(), "{text}");
            }
        }
    }

    fn stand(&self, standing: &Standing) {
        if let Some(bar) = &self.bar {
            bar.set_length((standing.done + standing.to_come).max(1));
            bar.set_position(standing.done);
            let seconds = Duration::from_secs(standing.time_left.as_secs());
            bar.set_prefix(HumanDuration(seconds).to_string());
        }
    }
}

impl Progress for Measuring {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Scenario {
                name,
                index,
                of,
                window,
            } => {
                let text = format!(
                    "{}/{of} {name}, windows of {} ms",
                    index + 1,
                    window.as_millis()
                );
                match &self.bar {
                    Some(bar) => bar.set_message(text),
                    None => self.say(&text),
                }
            }
            Event::Look { look, of, settled } => self.say(&format!(
                "look {look} of at most {of}: {settled} cells are settled; the others get as many forks again"
            )),
            Event::Short { scenarios } => self.say(&format!(
                "no time for more forks in {scenarios} scenarios; their cells keep those that they have"
            )),
            Event::Window { standing, .. } => self.stand(standing),
            Event::Failure { failure, standing } => {
                let (implementation, scenario) = (&failure.implementation, &failure.scenario);
                self.say(&format!(
                    "  no number for {implementation} in {scenario}: {}",
                    failure.message
                ));
                self.stand(standing);
            }
            Event::Noise(noise) if !noise.quiet => {
                self.say(&format!(
                    "  this machine is not quiet (score {} of 100)",
                    noise.score
                ));
            }
            Event::Uncounted {
                scenario,
                implementation,
                why,
            } => self.say(&format!(
                "  allocations of {implementation} in {scenario} not counted: {why}"
            )),
            Event::Dropped { scenario } => self.say(&format!("  dropped {scenario}: {RULE}")),
            Event::Fork { .. } | Event::Proved { .. } | Event::Round { .. } | Event::Noise(_) => {}
        }
    }
}

impl Drop for Measuring {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
