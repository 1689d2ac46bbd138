//! Histories of alts and deadlines with known verdicts.

use super::{ACCEPTED, REFUSED, Script, is_legal, took, verdict, violates, violates_under};
use crate::channel::{Order, Patience};
use crate::history::{Answer, Call, Clause, History, Storage};
use crate::spec::Rules;
use crate::sync::Deadline;

const SOON: Patience = Patience::Until(Deadline::from_nanos(50));

fn waits(clauses: &[Clause]) -> Call {
    Call::alts(clauses, Order::Random, Patience::Forever)
}

fn tries(clauses: &[Clause]) -> Call {
    Call::alts(clauses, Order::Random, Patience::Now)
}

#[test]
fn two_clauses_of_an_alts_that_commit_are_a1() {
    let puts = waits(&[Clause::put(0, 1), Clause::put(1, 2)]);
    let mut script = Script::on([Storage::Unbounded, Storage::Unbounded]);
    script.run(0, puts, ACCEPTED);
    script.run(1, Call::take(0), took(1));
    script.run(1, Call::take(1), took(2));
    violates("A1", &script.0);

    let takes = waits(&[Clause::take(0), Clause::take(1)]);
    let mut script = Script::on([Storage::Unbounded, Storage::Unbounded]);
    script.run(0, Call::put(0, 1), ACCEPTED);
    script.run(0, Call::put(1, 2), ACCEPTED);
    script.run(1, takes, took(1));
    script.run(1, Call::poll(1), Answer::WouldWait);
    violates("A1", &script.0);
}

#[test]
fn an_alts_that_answers_for_a_closed_port_and_swallows_an_offer_is_a2() {
    let alts = waits(&[Clause::put(1, 2), Clause::take(0)]);
    let mut script = Script::on([Storage::Rendezvous, Storage::Rendezvous]);
    script.run(0, Call::Close(1), Answer::Closed);
    let alts = script.invoke(1, alts);
    script.run(0, Call::offer(0, 1), ACCEPTED);
    script.answer(alts, REFUSED);
    let history = script.0;
    violates("A2", &history);
    let mut offered_in_vain = history.clone();
    offered_in_vain.operations[2].answer = Answer::WouldWait;
    is_legal(&offered_in_vain);
}

#[test]
fn an_alts_that_meets_itself_is_a4() {
    let both = waits(&[Clause::put(0, 1), Clause::take(0)]);
    for answer in [
        ACCEPTED,
        Answer::Took {
            clause: 1,
            value: 1,
        },
    ] {
        let mut script = Script::on([Storage::Rendezvous]);
        script.run(0, both.clone(), answer);
        violates("A4", &script.0);
    }
    let mut script = Script::on([Storage::Rendezvous]);
    script.invoke(0, both);
    is_legal(&script.at_rest());
}

#[test]
fn a_later_clause_although_an_earlier_one_was_able_is_a5() {
    let takes = [Clause::take(0), Clause::take(1)];
    let history = |order| {
        let mut script = Script::on([Storage::Fixed(1), Storage::Fixed(1)]);
        script.run(0, Call::put(0, 1), ACCEPTED);
        script.run(0, Call::put(1, 2), ACCEPTED);
        let alts = Call::alts(takes, order, Patience::Forever);
        script.run(
            1,
            alts,
            Answer::Took {
                clause: 1,
                value: 2,
            },
        );
        script.0
    };
    is_legal(&history(Order::Random));
    violates("A5", &history(Order::Priority));
    violates_under("A5", &history(Order::Priority), Rules::WEAK);
}

/// Each clause is unable at some moment, but at every moment one of them is able: the value moves between the channels.
fn unable_only_in_turn(call: Call, answer: Answer) -> History {
    let mut script = Script::on([Storage::Fixed(1), Storage::Fixed(1)]);
    script.run(0, Call::put(0, 1), ACCEPTED);
    let alts = script.invoke(1, call);
    script.run(0, Call::put(1, 2), ACCEPTED);
    script.run(0, Call::take(0), took(1));
    script.answer(alts, answer);
    script.0
}

#[test]
fn a_default_although_able_is_a6_and_the_weak_one_asks_each_clause_alone() {
    let takes = [Clause::take(0), Clause::take(1)];
    let mut script = Script::on([Storage::Fixed(1), Storage::Fixed(1)]);
    script.run(0, Call::put(0, 1), ACCEPTED);
    script.run(1, tries(&takes), Answer::WouldWait);
    script.run(1, Call::take(0), took(1));
    violates("A6", &script.0);
    violates_under("A6", &script.0, Rules::WEAK);

    let wandering = unable_only_in_turn(tries(&takes), Answer::WouldWait);
    let mut drained = Script(wandering.clone(), 100);
    drained.run(0, Call::take(1), took(2));
    violates("A6", &drained.0);
    assert!(verdict(&drained.0, Rules::WEAK).is_none());
}

#[test]
fn a_time_out_although_able_is_c8_and_a9() {
    let mut script = Script::on([Storage::Fixed(1)]);
    script.run(0, Call::put(0, 1), ACCEPTED);
    script.run(1, Call::one(Clause::take(0), SOON), Answer::TimedOut);
    script.run(1, Call::take(0), took(1));
    violates("C8", &script.0);

    let takes = Call::alts([Clause::take(0), Clause::take(1)], Order::Random, SOON);
    let mut script = Script::on([Storage::Fixed(1), Storage::Fixed(1)]);
    script.run(0, Call::put(0, 1), ACCEPTED);
    script.run(1, takes.clone(), Answer::TimedOut);
    script.run(1, Call::take(0), took(1));
    violates("A9", &script.0);

    let mut wandering = Script(unable_only_in_turn(takes, Answer::TimedOut), 100);
    wandering.run(0, Call::take(1), took(2));
    is_legal(&wandering.0);
}

#[test]
fn crossed_alts_meet_on_one_channel_and_never_rest_beside_each_other() {
    let one = waits(&[Clause::put(0, 1), Clause::take(1)]);
    let other = waits(&[Clause::put(1, 2), Clause::take(0)]);
    let crossed = |answers: [Answer; 2]| {
        let mut script = Script::on([Storage::Rendezvous, Storage::Rendezvous]);
        script.at_once([(one.clone(), answers[0]), (other.clone(), answers[1])]);
        script
    };
    let took_by_second = |value| Answer::Took { clause: 1, value };
    is_legal(&crossed([ACCEPTED, took_by_second(1)]).0);
    is_legal(&crossed([took_by_second(2), ACCEPTED]).0);
    assert!(verdict(&crossed([ACCEPTED, ACCEPTED]).0, Rules::STRICT).is_some());
    let both_took = crossed([took_by_second(2), took_by_second(1)]).0;
    violates("A1", &both_took);
    violates("A3", &crossed([Answer::Pending; 2]).at_rest());
}

#[test]
fn a_clause_may_have_been_seen_unable_in_only_one_of_two_orders() {
    let mut script = Script::on([Storage::Fixed(2), Storage::Fixed(2)]);
    script.run(0, Call::put(0, 1), ACCEPTED);
    script.run(0, Call::put(1, 2), ACCEPTED);
    let alts = script.invoke(1, tries(&[Clause::take(0), Clause::take(1)]));
    // Channel a is empty for a moment if the take comes first.
    let take = script.invoke(2, Call::take(0));
    script.run(3, Call::put(0, 3), ACCEPTED);
    script.answer(take, took(1));
    script.run(3, Call::take(1), took(2));
    script.answer(alts, Answer::WouldWait);
    script.run(3, Call::take(0), took(3));
    assert!(verdict(&script.0, Rules::WEAK).is_none());
    violates("A6", &script.0);
}

#[test]
fn a_later_clause_may_be_found_waiting_before_the_earlier_one_has_asked() {
    let puts = [Clause::put(0, 1), Clause::put(0, 2)];
    let mut script = Script::on([Storage::Rendezvous]);
    script.at_once([
        (
            Call::alts(puts, Order::Priority, Patience::Forever),
            Answer::Accepted { clause: 1 },
        ),
        (Call::take(0), took(2)),
    ]);
    is_legal(&script.0);
}

#[test]
fn a_counterexample_reads_like_this() {
    let puts = waits(&[Clause::put(0, 1), Clause::put(1, 2)]);
    let mut script = Script::on([Storage::Unbounded, Storage::Rendezvous]);
    let alts = script.invoke(0, puts);
    let take = script.invoke(1, Call::take(1));
    script.answer(alts, ACCEPTED);
    script.answer(take, took(2));
    script.invoke(0, Call::take(1));
    let found = verdict(&script.0, Rules::STRICT).expect("this history is illegal");
    let expected = r#"
A1: the losing clause put(b, 2) was taken by thread 1, while alts[put(a, 1), put(b, 2)] of thread 0
   was answered "put(a, 1): true"

channel a: Unbounded
channel b: Rendezvous

thread 0                                        thread 1
┌0 alts[put(a, 1), put(b, 2)]
│                                               ┌1 take(b)
└0 put(a, 1): true                              │
                                                └1 2
┌2 take(b)
┆ pending

2 take(b) of thread 0 is pending: it waits for a value or a close
Before operation 1 was answered, this explains everything:
   1. put(a, 1) of 0 stores
Nothing explains that 1 take(b) of thread 1 was answered "2" as well.
"#;
    assert_eq!(found.to_string(), expected.trim_start());
}
