//! flume 0.12 through its own API, without any code of this project in between. Four tasks send and four
//! receive. Now and then a receiver keeps sleeping while a value lies in the channel.
//!
//! `cargo run --release -p flowmeter-impls --features peers --example flume_async_hang -- CAPACITY`

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "real threads against published crates: no checker watches"
)]

use std::time::Duration;

const PRODUCERS: u32 = 4;
const CONSUMERS: u32 = 4;
const EACH: u32 = 64;

fn main() {
    let capacity = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_time()
        .build()
        .expect("a runtime");
    for round in 0..100_000 {
        let (tx, rx) = flume::bounded::<Option<u32>>(capacity);
        let all = async {
            let senders: Vec<_> = (0..PRODUCERS)
                .map(|producer| {
                    let tx = tx.clone();
                    tokio::spawn(async move {
                        for value in 0..EACH {
                            tx.send_async(Some(producer * EACH + value))
                                .await
                                .expect("open");
                        }
                    })
                })
                .collect();
            let receivers: Vec<_> = (0..CONSUMERS)
                .map(|_| {
                    let rx = rx.clone();
                    tokio::spawn(async move {
                        let mut taken = 0;
                        while rx.recv_async().await.expect("open").is_some() {
                            taken += 1;
                        }
                        taken
                    })
                })
                .collect();
            for sender in senders {
                sender.await.expect("no panic");
            }
            for _ in 0..CONSUMERS {
                tx.send_async(None).await.expect("open");
            }
            let mut taken = 0;
            for receiver in receivers {
                taken += receiver.await.expect("no panic");
            }
            taken
        };
        match runtime.block_on(async { tokio::time::timeout(Duration::from_secs(5), all).await }) {
            Ok(taken) => assert_eq!(taken, PRODUCERS * EACH, "round {round}"),
            Err(_) => {
                println!(
                    "round {round}: no progress for 5 s with {} values in it",
                    rx.len()
                );
                std::process::exit(1);
            }
        }
    }
    println!("100,000 rounds without a hang");
}
