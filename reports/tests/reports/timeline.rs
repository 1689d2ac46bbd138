//! The page of a counterexample.

use flowmeter_records::{Span, Step, Timeline};
use flowmeter_reports::{About, timeline_page};

fn span(thread: usize, from: u64, to: Option<u64>, call: &str, answer: Option<&str>) -> Span {
    Span {
        thread,
        from,
        to,
        call: call.to_owned(),
        answer: answer.map(str::to_owned),
        fault: false,
    }
}

fn timeline() -> Timeline {
    let step = |thread, at, what: &str| Step {
        thread,
        at,
        what: what.to_owned(),
        site: Some("channel/mutex/state.rs:210".to_owned()),
    };
    Timeline {
        threads: vec!["main".to_owned(), "thread 1".to_owned()],
        spans: vec![
            span(0, 0, Some(6), "put(a, 1)", Some("true")),
            Span {
                fault: true,
                ..span(
                    1,
                    2,
                    Some(5),
                    "alts[take(a), take(b)]",
                    Some("take(b): closed"),
                )
            },
            span(1, 7, None, "take(a)", None),
        ],
        steps: vec![step(0, 1, "lock"), step(1, 3, "lock"), step(1, 8, "park")],
        waits: vec!["thread 1 waits for a value of a".to_owned()],
        explained: vec!["put(a, 1) stores".to_owned()],
    }
}

const ABOUT: About<'_> = About {
    title: "mutex a1-exclusive under shuttle",
    violation: "A1: a value <b>was</b> lost",
    told: "A1: a value was lost\nin columns",
    replay: Some("cargo flowmeter check --replay x.json"),
    found: "execution 13 of 2000, seed 7",
};

#[test]
fn what_was_called_answered_and_left_waiting_is_there() {
    let page = timeline_page(ABOUT, &timeline()).expect("it renders");
    for text in [
        "put(a, 1) → true",
        "take(a) …",
        "lock at channel/mutex/state.rs:210",
        "thread 1 waits for a value of a",
        "put(a, 1) stores",
        "cargo flowmeter check --replay x.json",
    ] {
        assert!(page.contains(text), "{text} is missing");
    }
    assert!(page.contains("class=fault"), "the fault is not marked");
    assert!(page.contains("class=open"), "what is pending is not marked");
    assert!(!page.contains("<b>was</b>"), "markup got through");
}

#[test]
fn it_asks_the_network_for_nothing_and_is_the_same_twice() {
    let page = timeline_page(ABOUT, &timeline()).expect("it renders");
    assert!(!page.contains("http"), "a link to somewhere else");
    assert_eq!(page, timeline_page(ABOUT, &timeline()).expect("it renders"));
}

#[test]
fn an_execution_without_anything_in_it_is_a_page_too() {
    assert!(timeline_page(ABOUT, &Timeline::default()).is_ok());
}
