//! How long a report takes: about ten thousand windows of a generated run to estimates, and to a
//! page.
//!
//! `cargo run --release -p flowmeter-reports --example report_time [page.html [scenarios [forks]]]`

#[path = "../tests/reports/fixture/mod.rs"]
mod fixture;

use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let page = arguments.next();
    let mut number = |default: usize| {
        let text = arguments.next();
        text.map_or(default, |text| text.parse().expect("a number"))
    };
    let shape = fixture::Shape {
        implementations: 12,
        scenarios: number(28),
        forks: number(5) as u32,
        ..fixture::Shape::default()
    };
    let runs = [fixture::run(&shape)];
    println!("{} windows", runs[0].windows.len());
    let start = Instant::now();
    let estimates = flowmeter_reports::estimate(&runs).expect("the fixture is sound");
    println!(
        "{} cells estimated in {:?}",
        estimates.cells.len(),
        start.elapsed()
    );
    let start = Instant::now();
    let html = flowmeter_reports::render(&runs, &estimates).expect("the fixture is sound");
    println!("{} bytes rendered in {:?}", html.len(), start.elapsed());
    if let Some(page) = page {
        std::fs::write(page, html).expect("the page can be written");
    }
}
