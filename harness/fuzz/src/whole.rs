//! Arbitrary histories of several channels with alts, for tier three.

use arbitrary::Arbitrary;
use flowmeter_harness::channel::{Order, Patience};
use flowmeter_harness::history::{Answer, Call, Clause, History, Operation, Stamps, Storage};
use flowmeter_harness::spec::Rules;
use flowmeter_harness::sync::Deadline;

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Store {
    Rendezvous,
    Fixed(u8),
    Unbounded,
    Dropping(u8),
    Sliding(u8),
    Promise,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Port {
    Put(u8, u8),
    Take(u8),
}

#[derive(Arbitrary, Clone, Debug)]
enum Request {
    Close(u8),
    Alts {
        ports: Vec<Port>,
        priority: bool,
        patience: Option<bool>,
    },
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Reply {
    Accepted(u8),
    Refused(u8),
    Took(u8, u8),
    Ended(u8),
    WouldWait,
    TimedOut,
    Closed,
    Cancelled,
    Pending,
}

#[derive(Arbitrary, Clone, Debug)]
struct Deed {
    thread: u8,
    request: Request,
    reply: Reply,
    invoked: u8,
    returned: u8,
}

/// A history and the rules to judge it by.
#[derive(Arbitrary, Clone, Debug)]
pub struct Happening {
    channels: Vec<Store>,
    deeds: Vec<Deed>,
    links: Vec<(u8, u8)>,
    margin: Option<u8>,
    quiescent: bool,
    rules: [bool; 4],
}

impl Happening {
    pub fn rules(&self) -> Rules {
        let [
            keeps_buffered,
            pending_puts_survive,
            strict_priority,
            strict_default,
        ] = self.rules;
        Rules {
            keeps_buffered,
            pending_puts_survive,
            strict_priority,
            strict_default,
        }
    }

    pub fn history(&self) -> History {
        History {
            channels: self.channels.iter().map(|store| store.storage()).collect(),
            operations: self.deeds.iter().map(Deed::operation).collect(),
            links: self
                .links
                .iter()
                .map(|&(a, b)| (a.into(), b.into()))
                .collect(),
            stamps: match self.margin {
                Some(margin) => Stamps::Order {
                    margin: margin.into(),
                },
                None => Stamps::Schedule,
            },
            quiescent: self.quiescent,
        }
    }
}

impl Store {
    fn storage(self) -> Storage {
        match self {
            Store::Rendezvous => Storage::Rendezvous,
            Store::Fixed(n) => Storage::Fixed(n.into()),
            Store::Unbounded => Storage::Unbounded,
            Store::Dropping(n) => Storage::Dropping(n.into()),
            Store::Sliding(n) => Storage::Sliding(n.into()),
            Store::Promise => Storage::Promise,
        }
    }
}

impl Deed {
    fn operation(&self) -> Operation {
        let call = match &self.request {
            Request::Close(channel) => Call::Close((*channel).into()),
            Request::Alts {
                ports,
                priority,
                patience,
            } => {
                let clause = |port: &Port| match *port {
                    Port::Put(channel, value) => Clause::put(channel.into(), value.into()),
                    Port::Take(channel) => Clause::take(channel.into()),
                };
                let order = match priority {
                    true => Order::Priority,
                    false => Order::Random,
                };
                let patience = match patience {
                    None => Patience::Forever,
                    Some(true) => Patience::Until(Deadline::from_nanos(1)),
                    Some(false) => Patience::Now,
                };
                Call::alts(
                    ports.iter().map(clause).collect::<Vec<_>>(),
                    order,
                    patience,
                )
            }
        };
        let answer = match self.reply {
            Reply::Accepted(clause) => Answer::Accepted {
                clause: clause.into(),
            },
            Reply::Refused(clause) => Answer::Refused {
                clause: clause.into(),
            },
            Reply::Took(clause, value) => Answer::Took {
                clause: clause.into(),
                value: value.into(),
            },
            Reply::Ended(clause) => Answer::Ended {
                clause: clause.into(),
            },
            Reply::WouldWait => Answer::WouldWait,
            Reply::TimedOut => Answer::TimedOut,
            Reply::Closed => Answer::Closed,
            Reply::Cancelled => Answer::Cancelled,
            Reply::Pending => Answer::Pending,
        };
        Operation {
            thread: self.thread.into(),
            call,
            answer,
            invoked: self.invoked.into(),
            returned: match answer {
                Answer::Pending => u64::MAX,
                _ => self.returned.into(),
            },
        }
    }
}
