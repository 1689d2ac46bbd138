//! The same as rows from top to bottom: a column for each thread.

use flowmeter_records::Timeline;

use super::lanes::done;

/// One moment.
pub struct Row {
    pub at: u64,
    /// A cell for each thread; all but one are empty.
    pub cells: Vec<Cell>,
}

/// What a thread did at that moment.
#[derive(Clone, Default)]
pub struct Cell {
    pub text: String,
    /// Of an operation, not a step.
    pub operation: bool,
    pub fault: bool,
}

pub fn of(timeline: &Timeline) -> Vec<Row> {
    let mut said: Vec<(u64, usize, Cell)> = Vec::new();
    for span in &timeline.spans {
        let cell = |text| Cell {
            text,
            operation: true,
            fault: span.fault,
        };
        said.push((span.from, span.thread, cell(format!("┌ {}", span.call))));
        if let (Some(to), Some(answer)) = (span.to, &span.answer) {
            let text = format!("└ {}: {answer}", span.call);
            said.push((to, span.thread, cell(text)));
        }
    }
    for step in &timeline.steps {
        let cell = Cell {
            text: done(step),
            ..Cell::default()
        };
        said.push((step.at, step.thread, cell));
    }
    said.sort_by_key(|(at, ..)| *at);
    let row = |(at, thread, cell): (u64, usize, Cell)| {
        let mut cells = vec![Cell::default(); timeline.threads.len()];
        if let Some(mine) = cells.get_mut(thread) {
            *mine = cell;
        }
        Row { at, cells }
    };
    said.into_iter().map(row).collect()
}
