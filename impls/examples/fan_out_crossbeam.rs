//! `fan_out` with crossbeam-channel, to be read beside it: see docs/fan_out.md.
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a program of a user's, with what std has"
)]

use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, at, bounded, select};

/// What one source finds, one by one, until no more is wanted.
fn search(source: u64, hits: &Sender<String>) {
    for page in 0.. {
        thread::sleep(Duration::from_millis(10 * source));
        if hits.send(format!("source {source}, page {page}")).is_err() {
            return;
        }
    }
}

/// What all sources find until the deadline, but no more than `enough`.
fn search_all(sources: u64, deadline: Instant, enough: usize) -> Vec<String> {
    let (hits, found) = bounded(16);
    for source in 1..=sources {
        let hits = hits.clone();
        thread::spawn(move || search(source, &hits));
    }
    drop(hits);
    let late = at(deadline);
    let mut all = Vec::new();
    while all.len() < enough {
        select! {
            recv(found) -> hit => match hit {
                Ok(hit) => all.push(hit),
                Err(_) => break,
            },
            recv(late) -> _ => break,
        }
    }
    all
}

fn main() {
    let in_time = Instant::now() + Duration::from_millis(100);
    for hit in search_all(5, in_time, 20) {
        println!("{hit}");
    }
}
