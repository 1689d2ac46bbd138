//! core.async's words, over what the crate's root has.

use std::time::Duration;

use alts::core_async::*;
use flowmeter_harness::sync::std::block_on;

#[test]
fn buffers_keep_what_core_async_keeps() {
    let kept = |buffer| {
        let ch = chan(buffer);
        for value in 0..3 {
            let _ = ch.offer(value);
        }
        ch.close();
        std::iter::from_fn(|| ch.take().ok()).collect::<Vec<u8>>()
    };
    assert_eq!(kept(buffer(2)), [0, 1]);
    assert_eq!(kept(dropping_buffer(2)), [0, 1]);
    assert_eq!(kept(sliding_buffer(2)), [1, 2]);
    assert_eq!(kept(Buffer::Unbounded), [0, 1, 2]);

    let ch = promise_chan();
    ch.put("kept").unwrap();
    assert_eq!((ch.take(), ch.take()), (Ok("kept"), Ok("kept")));
}

#[test]
fn blocks_and_threads_answer_on_channels() {
    assert_eq!(go(async { 7 }).take(), Ok(7));
    assert_eq!(thread(|| 7).take(), Ok(7));
    let failed = go(async { panic!("a block's panic closes its channel") });
    assert_eq!(failed.take(), Err::<(), _>(TakeError::Closed));
}

/// A `&'static str` is the message that rustc checks most: it forgets which lifetime it was.
#[test]
fn blocks_put_and_take_static_text() {
    let ch = chan::<&'static str>(buffer(1));
    let heard = ch.clone();
    let put = go(async move { ch.put_async("text").await });
    assert_eq!(put.take(), Ok(Ok(())));
    let taken = go(async move { heard.take_async().await });
    assert_eq!(taken.take(), Ok(Ok("text")));
}

#[test]
fn alts_takes_from_both_kinds_of_halves() {
    let (tx, rx) = alts::bounded(1);
    let ch = chan::<&str>(buffer(1));
    tx.send(7).unwrap();
    let heard = alts! {
        priority;
        take(rx) => |number| number,
        put(ch, "unheard") => |_| None,
    };
    assert_eq!(heard, Ok(Some(7)));
    assert_eq!(ch.poll(), Polled::WouldWait);

    let late = timeout(Duration::from_millis(1));
    let heard = block_on(async {
        alts_async! {
            take(rx) => |number| number,
            take(late) => |nothing| { assert_eq!(nothing, None); Some(0) },
        }
    });
    assert_eq!(heard, Ok(Some(0)));
}
