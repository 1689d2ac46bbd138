//! C6: what a close leaves: stored values and waiting puts stay takeable, later puts answer false,
//! waiting takes hear of it, and nothing is lost in between.

use flowmeter_harness::channel::{Blocking, Buffer, PutError, TakeError};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::World;

use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c6-close",
    statement: "A close loses nothing: what was accepted before is taken after, everybody who waits is answered.",
    relied_on_by: Reliance::Everybody,
};

const BUFFERS: [Buffer; 4] = [
    Buffer::Rendezvous,
    Buffer::fixed(1),
    Buffer::fixed(3),
    Buffer::Unbounded,
];

/// `keeps_buffered`: whether values in the buffer are promised to survive the close.
pub(super) fn cases<C: Blocking, W: World>(keeps_buffered: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    for buffer in BUFFERS {
        if !C::open::<u32>(buffer).is_some_and(|(tx, _rx)| C::close(&tx)) {
            continue;
        }
        cases.push(Case::new(format!("waiting take, {buffer}"), move || {
            waiting_take::<C, W>(buffer)
        }));
        let crowd = if W::NAME == "std" { (3, 64) } else { (1, 2) };
        cases.push(Case::new(format!("race, {buffer}"), move || {
            race::<C, W>(buffer, crowd, keeps_buffered);
        }));
    }
    cases
}

fn waiting_take<C: Blocking, W: World>(buffer: Buffer) {
    let (tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let taker = W::spawn(move || C::take(&mut rx));
    C::close(&tx);
    assert_eq!(
        W::join(taker),
        Err(TakeError::Closed),
        "C6: a take of nothing was not told of the close"
    );
}

/// Producers, one taker and one who closes, all at once.
fn race<C: Blocking, W: World>(
    buffer: Buffer,
    (producers, values_each): (usize, usize),
    keeps_buffered: bool,
) {
    let count = producers * values_each;
    let mint = Mint::new(count);
    let (tx, mut rx) = C::open::<Token>(buffer).expect("asked before");
    let txs = std::iter::repeat_with(|| C::another_tx(&tx)).take(producers);
    let putting: Vec<_> = txs
        .enumerate()
        .map(|(producer, tx)| {
            let mut tx = tx.expect("a channel that can be closed has several handles");
            let mint = mint.clone();
            W::spawn(move || {
                let mut ledger = Ledger::new(count);
                let mut refused = false;
                for id in producer * values_each..(producer + 1) * values_each {
                    match C::put(&mut tx, mint.token(id)) {
                        Ok(()) => {
                            assert!(
                                !refused,
                                "C6: a put was accepted after an earlier one found it closed"
                            );
                            ledger.accepted(id);
                        }
                        Err(PutError::Closed(_)) => {
                            refused = true;
                            ledger.refused(id);
                        }
                        Err(PutError::TooManyWaiters(_)) => {
                            panic!("C7: refused among {producers} puts")
                        }
                    }
                }
                ledger
            })
        })
        .collect();
    let closing = W::spawn(move || {
        C::close(&tx);
        tx
    });
    let mut ledger = Ledger::new(count);
    // Everything that was accepted comes before the end.
    while let Ok(token) = C::take(&mut rx) {
        ledger.taken(token.id());
    }
    let tx = W::join(closing);
    for handle in putting {
        ledger.merge(&W::join(handle));
    }
    // A put that waited at the close may have been left when the taker saw the channel empty.
    while let Ok(token) = C::take(&mut rx) {
        ledger.taken(token.id());
    }
    drop((tx, rx));
    let kept = if keeps_buffered {
        ledger.judge_drained()
    } else {
        ledger.judge_takes()
    };
    for judged in [kept, ledger.judge_drops(&mint)] {
        if let Err(violation) = judged {
            panic!("{violation}, around a close");
        }
    }
}
