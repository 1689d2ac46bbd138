//! The process of one implementation: its request, and its answers.

use std::collections::BTreeSet;

use flowmeter_harness::registry::Registered;
use flowmeter_records::{Holds, SeedClaim};
use serde::{Deserialize, Serialize};

use super::LIMIT;
use super::leaving::seen_to_leave;
use super::rows::{judged, row};
use crate::claims::statements;
use crate::process::{self, End, Request};
use crate::worlds::Worlds;

/// The request to the process of an implementation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    pub(crate) implementation: String,
    /// Indices of the requested claims.
    pub(crate) claims: BTreeSet<usize>,
}

/// Its answers, in turn.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// Indices of the claims that it will re-enact.
    Will(Vec<usize>),
    /// The result of the next of them.
    Did(usize, SeedClaim),
    /// All are done.
    Done,
}

/// Lets a process re-enact what an implementation of the std world can: rows with the indices of their claims.
///
/// # Errors
/// When it cannot be asked: why.
pub(crate) fn reenact(
    implementation: &Registered,
    wanted: &BTreeSet<usize>,
) -> Result<Vec<(usize, SeedClaim)>, String> {
    let question = Question {
        implementation: implementation.name.to_owned(),
        claims: wanted.clone(),
    };
    let (mut will, mut did) = (None, Vec::new());
    let mut is_done = false;
    let end = process::listen(&Request::Claims(question), LIMIT, |answer: Answer| {
        match answer {
            Answer::Will(places) => will = Some(places),
            Answer::Did(place, row) => did.push((place, row)),
            Answer::Done => is_done = true,
        }
        is_done
    });
    let why = match end {
        End::Enough => return Ok(did),
        End::TimeUp => format!(
            "no answer within {:.0} s: a thread waits for ever",
            LIMIT.as_secs_f64()
        ),
        End::Gone(why) => why.to_string(),
    };
    let all = statements();
    let Some(will) = will else { return Err(why) };
    // In the order in which they were announced.
    for place in will.into_iter().skip(did.len()) {
        did.push((
            place,
            row(&all[place], implementation, why.clone(), Holds::No, None),
        ));
    }
    Ok(did)
}

/// The process of one implementation: announces what it will do, and then reports its observations.
pub(crate) fn serve(worlds: &Worlds, question: Question) -> Answer {
    let Question {
        implementation,
        claims,
    } = question;
    let same = "the process that asks is the same program";
    let mut registered = worlds.catalogue().implementations().iter();
    let registered = registered
        .find(|registered| registered.name == implementation)
        .expect(same);
    let stage = worlds.stage().expect(same);
    let wanted = |place: &usize| claims.contains(place);
    let mut enactments = stage.enactments(&implementation);
    enactments.retain(|(place, _)| wanted(place));
    let mut leaving = worlds.leaving(&implementation);
    leaving.retain(|(place, _)| wanted(place));
    let acted = enactments.iter().map(|(place, _)| *place);
    let left = leaving.iter().map(|(place, _)| *place);
    say(&Answer::Will(acted.chain(left).collect()));
    let all = statements();
    for (place, enactment) in enactments {
        let seen = stage.seen(enactment.act);
        let row = judged(&all[place], registered, enactment.differs, seen);
        say(&Answer::Did(place, row));
    }
    for (place, _) in leaving {
        let seen = seen_to_leave(&implementation, place);
        let row = judged(&all[place], registered, None, seen);
        say(&Answer::Did(place, row));
    }
    Answer::Done
}

fn say(answer: &Answer) {
    println!(
        "{}",
        serde_json::to_string(answer).expect("answers are plain data")
    );
}
