//! The results that many sources find until a deadline: see the guide of `flowmeter_impls`.
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a program of a user's, with what std has"
)]

use std::thread;
use std::time::Duration;

use flowmeter_impls::alts;
use flowmeter_impls::alts::Deadline;
use flowmeter_impls::channel::mutex::{Channel, Producer};
use flowmeter_impls::channel::{AltsError, Buffer};

/// What one source finds, one by one, until no more is wanted.
fn search(source: u64, hits: &Producer<String>) {
    for page in 0.. {
        thread::sleep(Duration::from_millis(10 * source));
        if hits.put(format!("source {source}, page {page}")).is_err() {
            return;
        }
    }
}

/// What all sources find until the deadline, but no more than `enough`.
fn search_all(sources: u64, deadline: Deadline, enough: usize) -> Result<Vec<String>, AltsError> {
    let (hits, found) = Channel::split(Buffer::fixed(16));
    for source in 1..=sources {
        let hits = hits.clone();
        thread::spawn(move || search(source, &hits));
    }
    drop(hits);
    let mut all = Vec::new();
    while all.len() < enough {
        alts! {
            take(found) => |hit| match hit {
                Some(hit) => all.push(hit),
                None => break,
            },
            deadline(deadline) => break,
        }?;
    }
    Ok(all)
}

fn main() -> Result<(), AltsError> {
    let in_time = alts::after(Duration::from_millis(100));
    for hit in search_all(5, in_time, 20)? {
        println!("{hit}");
    }
    Ok(())
}
