//! Histories of puts, takes and closes with known verdicts.

use super::{ACCEPTED, ENDED, REFUSED, Script, is_legal, took, verdict, violates};
use crate::check::dual::{Verdict, judge};
use crate::history::{Answer, Call, Stamps, Storage};
use crate::spec::Rules;

#[test]
fn a_lost_value_is_c1() {
    let mut script = Script::on([Storage::Fixed(1)]);
    script.run(0, Call::put(0, 1), ACCEPTED);
    script.run(1, Call::poll(0), Answer::WouldWait);
    violates("C1", &script.0);
}

#[test]
fn a_doubled_or_invented_value_is_c2() {
    let mut script = Script::on([Storage::Unbounded]);
    script.run(0, Call::put(0, 1), ACCEPTED);
    script.run(0, Call::put(0, 2), ACCEPTED);
    script.run(1, Call::take(0), took(1));
    let mut doubled = Script(script.0.clone(), script.1);
    doubled.run(1, Call::take(0), took(1));
    violates("C2", &doubled.0);
    script.run(1, Call::take(0), took(3));
    violates("C2", &script.0);
}

#[test]
fn values_in_another_order_are_c2_unless_their_puts_overlap() {
    let takes = |mut script: Script| {
        script.run(2, Call::take(0), took(2));
        script.run(2, Call::take(0), took(1));
        script.0
    };
    let mut script = Script::on([Storage::Fixed(2)]);
    script.run(0, Call::put(0, 1), ACCEPTED);
    script.run(1, Call::put(0, 2), ACCEPTED);
    violates("C2", &takes(script));
    let mut script = Script::on([Storage::Fixed(2)]);
    script.at_once([(Call::put(0, 1), ACCEPTED), (Call::put(0, 2), ACCEPTED)]);
    is_legal(&takes(script));
}

#[test]
fn an_overfilled_buffer_is_c3() {
    let mut script = Script::on([Storage::Fixed(1)]);
    script.run(0, Call::put(0, 1), ACCEPTED);
    script.run(0, Call::put(0, 2), ACCEPTED);
    script.run(1, Call::take(0), took(1));
    violates("C3", &script.0);
}

#[test]
fn a_rendezvous_put_that_ends_before_its_take_begins_is_c1() {
    let mut script = Script::on([Storage::Rendezvous]);
    script.run(0, Call::put(0, 1), ACCEPTED);
    script.run(1, Call::take(0), took(1));
    violates("C1", &script.0);
    let mut script = Script::on([Storage::Rendezvous]);
    let take = script.invoke(1, Call::take(0));
    script.run(0, Call::put(0, 1), ACCEPTED);
    script.answer(take, took(1));
    is_legal(&script.0);
}

#[test]
fn closed_while_a_value_is_left_is_c6() {
    let mut script = Script::on([Storage::Fixed(1)]);
    script.run(0, Call::put(0, 1), ACCEPTED);
    script.run(0, Call::Close(0), Answer::Closed);
    script.run(1, Call::take(0), ENDED);
    let history = script.0;
    violates("C6", &history);
    let dropping = Rules {
        keeps_buffered: false,
        ..Rules::STRICT
    };
    assert!(
        verdict(&history, dropping).is_none(),
        "no implementation claims that"
    );
}

#[test]
fn closed_or_refused_without_a_close_is_found() {
    let mut script = Script::on([Storage::Rendezvous]);
    script.run(0, Call::take(0), ENDED);
    violates("C2", &script.0);
    let mut script = Script::on([Storage::Rendezvous]);
    script.run(0, Call::put(0, 1), REFUSED);
    violates("C1", &script.0);
}

#[test]
fn an_offer_and_a_poll_do_not_meet() {
    let mut script = Script::on([Storage::Rendezvous]);
    script.at_once([(Call::offer(0, 1), ACCEPTED), (Call::poll(0), took(1))]);
    assert!(verdict(&script.0, Rules::STRICT).is_some());
    let mut script = Script::on([Storage::Rendezvous]);
    script.at_once([(Call::offer(0, 1), ACCEPTED), (Call::take(0), took(1))]);
    is_legal(&script.0);
}

#[test]
fn a_refused_offer_with_room_throughout_is_c5() {
    let mut script = Script::on([Storage::Fixed(1)]);
    script.run(0, Call::offer(0, 1), Answer::WouldWait);
    violates("C5", &script.0);
}

#[test]
fn a_poll_may_miss_an_offer_that_overlaps_it() {
    let mut script = Script::on([Storage::Fixed(1)]);
    script.at_once([
        (Call::offer(0, 1), ACCEPTED),
        (Call::poll(0), Answer::WouldWait),
    ]);
    script.run(0, Call::poll(0), took(1));
    is_legal(&script.0);
}

#[test]
fn a_put_that_waited_at_the_close_is_taken_and_only_then_comes_the_end() {
    let history = |take: Answer, put: Answer| {
        let mut script = Script::on([Storage::Rendezvous]);
        let pending = script.invoke(0, Call::put(0, 1));
        script.run(1, Call::Close(0), Answer::Closed);
        script.run(1, Call::take(0), take);
        if put != Answer::Pending {
            script.answer(pending, put);
        }
        script
    };
    is_legal(&history(took(1), ACCEPTED).0);
    is_legal(&history(ENDED, REFUSED).0);
    assert!(verdict(&history(ENDED, ACCEPTED).0, Rules::STRICT).is_some());
    // It had requested, or it would have been refused. So it may wait on, but may not be passed over.
    violates("C6", &history(ENDED, Answer::Pending).at_rest());
    is_legal(&history(ENDED, Answer::Pending).0);
}

#[test]
fn a_put_after_the_close_is_refused_even_while_older_ones_wait() {
    let mut script = Script::on([Storage::Rendezvous]);
    let older = script.invoke(0, Call::put(0, 1));
    script.run(1, Call::Close(0), Answer::Closed);
    script.run(2, Call::put(0, 2), REFUSED);
    script.run(1, Call::take(0), took(1));
    script.answer(older, ACCEPTED);
    let mut late = Script(script.0.clone(), script.1);
    is_legal(&script.0);
    let take = late.invoke(1, Call::take(0));
    late.run(2, Call::put(0, 3), ACCEPTED);
    late.answer(take, took(3));
    violates("C6", &late.0);
}

#[test]
fn a_lost_wake_up_is_found_at_rest() {
    let mut script = Script::on([Storage::Fixed(1)]);
    script.invoke(0, Call::take(0));
    script.run(1, Call::put(0, 1), ACCEPTED);
    is_legal(&script.0);
    violates("C3", &script.at_rest());
    // The value was taken, but its put never returned.
    let mut script = Script::on([Storage::Rendezvous]);
    script.invoke(0, Call::put(0, 1));
    script.run(1, Call::take(0), took(1));
    is_legal(&script.0);
    violates("C3", &script.at_rest());
    // The channel is closed, but a take never returned.
    let mut script = Script::on([Storage::Fixed(1)]);
    script.invoke(0, Call::take(0));
    script.run(1, Call::Close(0), Answer::Closed);
    violates("C6", &script.at_rest());
    // A full channel without a consumer.
    let mut script = Script::on([Storage::Fixed(1)]);
    script.run(0, Call::put(0, 1), ACCEPTED);
    script.invoke(0, Call::put(0, 2));
    is_legal(&script.at_rest());
}

#[test]
fn a_cancelled_take_gives_its_value_back_where_it_stood() {
    let history = |last: [u32; 2]| {
        let mut script = Script::on([Storage::Fixed(3)]);
        script.run(0, Call::put(0, 1), ACCEPTED);
        script.run(0, Call::put(0, 2), ACCEPTED);
        script.run(0, Call::put(0, 3), ACCEPTED);
        let dropped = script.invoke(1, Call::take(0));
        // Meanwhile the other take holds value 1.
        script.run(2, Call::take(0), took(2));
        script.answer(dropped, Answer::Cancelled);
        for value in last {
            script.run(2, Call::take(0), took(value));
        }
        script.0
    };
    is_legal(&history([1, 3]));
    violates("C2", &history([3, 1]));
}

#[test]
fn a_cancelled_put_was_delivered_before_or_never() {
    let history = |in_time: bool| {
        let mut script = Script::on([Storage::Rendezvous]);
        let put = script.invoke(0, Call::put(0, 1));
        let early = in_time.then(|| script.invoke(1, Call::take(0)));
        script.answer(put, Answer::Cancelled);
        let take = early.unwrap_or_else(|| script.invoke(1, Call::take(0)));
        script.answer(take, took(1));
        script.0
    };
    is_legal(&history(true));
    assert!(verdict(&history(false), Rules::STRICT).is_some());
}

#[test]
fn a_cancelled_put_may_hold_room_until_it_is_dropped() {
    let history = |after: [Answer; 2]| {
        let mut script = Script::on([Storage::Fixed(1)]);
        script.run(0, Call::put(0, 1), ACCEPTED);
        let put = script.invoke(1, Call::put(0, 2));
        script.run(0, Call::poll(0), took(1));
        // The put holds the room, but its value is not there.
        script.run(0, Call::offer(0, 3), Answer::WouldWait);
        script.run(0, Call::poll(0), Answer::WouldWait);
        script.answer(put, Answer::Cancelled);
        script.run(0, Call::offer(0, 4), after[0]);
        script.run(0, Call::poll(0), after[1]);
        script.0
    };
    is_legal(&history([ACCEPTED, took(4)]));
    // It gives the room back; the answers seen before are not at fault.
    let kept = history([Answer::WouldWait; 2]);
    violates("C5", &kept);
    let found = verdict(&kept, Rules::STRICT).expect("this history is illegal");
    assert_eq!(found.culprit, Some(5), "{found}");
}

#[test]
fn buffers_that_drop_do_so_as_they_say() {
    let history = |storage, second: u32, answers: [Answer; 2]| {
        let mut script = Script::on([storage]);
        script.run(0, Call::put(0, 1), ACCEPTED);
        script.run(0, Call::put(0, second), ACCEPTED);
        script.run(1, Call::poll(0), answers[0]);
        script.run(1, Call::poll(0), answers[1]);
        script.0
    };
    let no = Answer::WouldWait;
    is_legal(&history(Storage::Dropping(1), 2, [took(1), no]));
    violates("C2", &history(Storage::Dropping(1), 2, [took(2), no]));
    is_legal(&history(Storage::Sliding(1), 2, [took(2), no]));
    violates("C2", &history(Storage::Sliding(1), 2, [took(1), no]));
    is_legal(&history(Storage::Promise, 2, [took(1), took(1)]));
    violates("C2", &history(Storage::Promise, 2, [took(1), took(2)]));
}

#[test]
fn where_stamps_are_a_schedule_only_the_program_orders() {
    let mut script = Script::on([Storage::Fixed(1)]);
    script.run(0, Call::put(0, 1), ACCEPTED);
    script.run(1, Call::poll(0), Answer::WouldWait);
    let mut history = script.0;
    assert!(verdict(&history, Rules::STRICT).is_some());
    history.stamps = Stamps::Schedule;
    is_legal(&history);
    history.links.push((0, 1));
    violates("C1", &history);
    // Precedence by way of a value needs no link.
    let mut script = Script::on([Storage::Fixed(1), Storage::Fixed(1)]);
    script.run(0, Call::put(0, 1), ACCEPTED);
    script.run(0, Call::put(1, 2), ACCEPTED);
    script.run(1, Call::take(1), took(2));
    script.run(1, Call::poll(0), Answer::WouldWait);
    script.0.stamps = Stamps::Schedule;
    violates("C1", &script.0);
}

#[test]
fn stamps_within_the_margin_order_nothing() {
    let mut script = Script::on([Storage::Fixed(1)]);
    script.run(0, Call::put(0, 1), ACCEPTED);
    script.run(1, Call::poll(0), Answer::WouldWait);
    script.0.stamps = Stamps::Order { margin: 1 };
    is_legal(&script.0);
}

#[test]
fn a_budget_that_ends_is_no_verdict() {
    let mut script = Script::on([Storage::Unbounded]);
    script.at_once([1, 2, 3, 4].map(|value| (Call::put(0, value), ACCEPTED)));
    for value in [4, 3, 2, 1] {
        script.run(0, Call::take(0), took(value));
    }
    is_legal(&script.0);
    let verdict = judge(&script.0, Rules::STRICT, 3);
    assert!(matches!(verdict, Verdict::Inconclusive(_)), "{verdict:?}");
}

#[test]
fn two_cancelled_takes_give_back_what_each_of_them_held() {
    for values in [[1, 2], [2, 1]] {
        let mut script = Script::on([Storage::Fixed(2)]);
        script.run(0, Call::put(0, 1), ACCEPTED);
        script.run(0, Call::put(0, 2), ACCEPTED);
        let dropped = [1, 2].map(|thread| script.invoke(thread, Call::take(0)));
        // Both values are held by cancelled takes.
        script.run(3, Call::poll(0), Answer::WouldWait);
        for (op, value) in dropped.into_iter().zip(values) {
            script.answer(op, Answer::Cancelled);
            script.run(3, Call::poll(0), took(value));
        }
        is_legal(&script.0);
    }
}
