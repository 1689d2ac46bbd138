//! Colours, type and behaviour of the page.

use std::fmt::Write;

use crate::chart::legend_symbol;
use crate::error::ReportError;

/// Filtering, sorting, hover values, copying, the theme. The page reads without it.
const SCRIPT: &str = include_str!("../../templates/report.js");

const STYLE: &str = include_str!("../../templates/report.css");

/// The script without its indentation and the lines that are comments.
pub fn script() -> String {
    let lines = SCRIPT.lines().map(str::trim_start);
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("//")).collect();
    lines.join("\n")
}

/// The dash patterns of lines that reuse a colour.
const DASHES: [&str; 3] = ["", "6 3", "2 2.5"];

/// The style sheet, with a class for each place's line, second line, interval, dots, marker and reference.
pub fn style(places: usize) -> String {
    let mut style = STYLE.to_owned();
    for n in 0..places {
        let colour = n % 8;
        let _ = write!(
            style,
            ".l{n},.r{n},.i{n},.d{n},.f{n}{{stroke:var(--k{colour})}}.m{n}{{fill:var(--k{colour});background:var(--k{colour})}}"
        );
        let dash = DASHES[(n / 8) % DASHES.len()];
        if !dash.is_empty() {
            let _ = write!(style, ".l{n}{{stroke-dasharray:{dash}}}");
        }
    }
    style
}

/// The symbols that legends use.
///
/// # Errors
/// [`ReportError::Chart`] when the drawing library refuses.
pub fn symbols(places: usize) -> Result<String, ReportError> {
    (0..places)
        .map(|n| {
            let shapes = legend_symbol(n as u16)?;
            Ok(format!(
                "<symbol id=k{n} viewBox=\"0 0 24 10\">{shapes}</symbol>"
            ))
        })
        .collect()
}
