//! Judges a channel with a buffer.

use super::close::CloseMoment;
use super::history::Passage;
use super::order::{Inversion, Order};
use super::room::{Crowd, Ends};
use super::{History, Interval, NEVER, Outcome, Rejection};
use crate::channel::Buffer;

pub(super) fn judge(history: &History<'_>, buffer: Buffer) -> Result<(), Rejection> {
    let room = match buffer {
        Buffer::Fixed(room) | Buffer::Dropping(room) | Buffer::Sliding(room) => Some(room.get()),
        Buffer::Rendezvous | Buffer::Unbounded => None,
    };
    let mut queue = Queue::new(history, buffer.keeps_everything())?;
    let order = Order::new(&queue.puts);
    queue.judge_order(&order)?;
    let mut close = CloseMoment::new(history);
    queue.judge_empty(&mut close)?;
    if let Some(room) = room {
        queue.narrow(&order);
        queue.judge_capacity(room)?;
    }
    queue.judge_full(room.filter(|_| buffer.keeps_everything()), &mut close)?;
    close.judge(history)
}

/// The values that passed through, and what is known about the times of their puts and takes.
struct Queue<'a> {
    history: &'a History<'a>,
    values: Vec<Passage>,
    puts: Vec<Interval>,
    takes: Vec<Interval>,
}

impl<'a> Queue<'a> {
    /// Makes each put end no later than its take, and each take begin no earlier than its put.
    fn new(history: &'a History<'a>, keeps_everything: bool) -> Result<Queue<'a>, Rejection> {
        let unknown = history.unknown_take();
        let mut queue = Queue {
            history,
            values: Vec::with_capacity(history.values.len()),
            puts: Vec::with_capacity(history.values.len()),
            takes: Vec::with_capacity(history.values.len()),
        };
        for &passage in &history.values {
            if passage.take.is_none() && !keeps_everything {
                continue;
            }
            let mut put = history.interval(passage.put);
            let mut take = history.taken(passage, unknown);
            if let Some(taken) = passage.take
                && take.to < put.from
            {
                let text = format!(
                    "{}, before {}",
                    history.tell(taken),
                    history.tell(passage.put)
                );
                return Err(history.reject("C2", text, History::both(passage)));
            }
            // This does not change the order that is forced, but it makes each interval state all that its own value
            // implies.
            put.to = put.to.min(take.to);
            take.from = take.from.max(put.from);
            queue.values.push(passage);
            queue.puts.push(put);
            queue.takes.push(take);
        }
        Ok(queue)
    }

    fn judge_order(&self, order: &Order) -> Result<(), Rejection> {
        // The shortened intervals are used only for the capacity. The other rules are exact without them and report
        // better.
        let mut takes = self.takes.clone();
        let judged = order.hold_back(&mut takes);
        judged.map_err(|inversion| self.reject_order(inversion))
    }

    /// Narrows every interval to what the order of the values allows. Once is enough: an order that follows from the
    /// narrowed intervals also follows from the given ones.
    fn narrow(&mut self, by_puts: &Order) {
        let narrow = |order: &Order, intervals: &mut [Interval]| {
            let judged = order.hold_back(intervals);
            debug_assert_eq!(judged, Ok(()), "the order was judged before");
            order.hurry(intervals);
        };
        narrow(by_puts, &mut self.takes);
        narrow(&Order::new(&self.takes), &mut self.puts);
    }

    /// The open interval in which each value is certainly in the queue; reversed if there is none.
    fn certain(&self) -> Vec<Interval> {
        let both = self.puts.iter().zip(&self.takes);
        both.map(|(put, take)| Interval {
            from: put.to,
            to: take.from,
        })
        .collect()
    }

    /// When each put, answered or not, can have requested without having put its value into the queue. Sorted by end;
    /// each begins with the earliest of those that end no earlier.
    fn coming(&self) -> Vec<Interval> {
        let never_taken = self.history.undecided.iter();
        let never_taken = never_taken.map(|&put| Passage { put, take: None });
        let all = self.history.values.iter().copied().chain(never_taken);
        let coming = all.map(|passage| {
            let mut put = self.history.interval(passage.put);
            if let Some(take) = passage.take {
                put.to = put.to.min(self.history.interval(take).to);
            }
            put
        });
        let mut coming: Vec<Interval> = coming.collect();
        coming.sort_by_key(|put| put.to);
        let mut earliest = NEVER;
        for put in coming.iter_mut().rev() {
            earliest = earliest.min(put.from);
            put.from = earliest;
        }
        coming
    }

    /// The closed interval in which each value can be in the queue.
    fn possible(&self) -> Vec<Interval> {
        let both = self.puts.iter().zip(&self.takes);
        let arrived = both.map(|(put, take)| Interval {
            from: put.from,
            to: take.to,
        });
        let undecided = self.history.undecided.iter().map(|&put| Interval {
            from: self.history.tell(put).invoke,
            to: NEVER,
        });
        arrived.chain(undecided).collect()
    }

    fn judge_capacity(&self, room: usize) -> Result<(), Rejection> {
        let certain = self.certain();
        let ends = Ends::of_open(&certain);
        if let Some(stretch) = Crowd::certain(&ends, room.saturating_add(1)).first() {
            return Err(self.reject_crowd(stretch, room, None));
        }
        let full = Crowd::certain(&ends, room);
        for (value, certain) in certain.into_iter().enumerate() {
            // If the take may begin before the put returns, the value is still in the queue at some moment between.
            let crossing = Interval {
                from: certain.to,
                to: certain.from,
            };
            if crossing.from <= crossing.to && full.earliest_outside(crossing).is_none() {
                return Err(self.reject_crowd(crossing, room, Some(value)));
            }
        }
        Ok(())
    }

    fn judge_empty(&self, close: &mut CloseMoment) -> Result<(), Rejection> {
        let occupied = Crowd::certain(&Ends::of_open(&self.certain()), 1);
        let closes = |&other: &usize| self.history.tell(other).outcome == Outcome::Close;
        let coming = match self.history.others.iter().any(closes) {
            true => self.coming(),
            false => Vec::new(),
        };
        for &other in &self.history.others {
            let within = self.history.interval(other);
            match self.history.tell(other).outcome {
                Outcome::TakeEmpty => match occupied.earliest_outside(within) {
                    Some(moment) => {
                        // A put that requested before the close and delivers after this answer justifies the answer.
                        let later = coming.partition_point(|put| put.to < within.from);
                        let asked = coming.get(later).map_or(NEVER, |put| put.from);
                        close.no_earlier(moment.min(asked), other);
                    }
                    None => return Err(self.reject_empty("C5", other)),
                },
                Outcome::TakeClosed => match occupied.latest_outside(within) {
                    Some(moment) => close.no_later(moment, other),
                    None => return Err(self.reject_empty("C2", other)),
                },
                _ => {}
            }
        }
        Ok(())
    }

    /// `room` is `None` where no offer is refused as full.
    fn judge_full(&self, room: Option<usize>, close: &mut CloseMoment) -> Result<(), Rejection> {
        let others = self.history.others.iter().copied();
        let mut refused = others
            .filter(|&other| self.history.tell(other).outcome == Outcome::PutFull)
            .peekable();
        let Some(&first) = refused.peek() else {
            return Ok(());
        };
        let Some(room) = room else {
            let text = format!("{}, which this buffer never is", self.history.tell(first));
            return Err(self.history.reject("C5", text, [first]));
        };
        let full = Crowd::possible(&Ends::of_closed(&self.possible()), room);
        for offer in refused {
            let Some(moment) = full.earliest_inside(self.history.interval(offer)) else {
                let text = format!(
                    "{}, though at no moment of it {room} values can have been in the buffer",
                    self.history.tell(offer),
                );
                return Err(self.history.reject("C5", text, [offer]));
            };
            close.no_earlier(moment, offer);
        }
        Ok(())
    }

    /// There are certainly `room` values, and one more: any value, or one that has to arrive meanwhile.
    fn reject_crowd(&self, within: Interval, room: usize, one_more: Option<usize>) -> Rejection {
        let certain = self.certain().into_iter().enumerate();
        let inside =
            certain.filter(|(_, value)| value.from <= within.from && within.from < value.to);
        let crowd: Vec<Passage> = one_more
            .into_iter()
            .chain(inside.map(|(value, _)| value))
            .map(|value| self.values[value])
            .take(room.saturating_add(1))
            .collect();
        let puts = crowd
            .iter()
            .map(|passage| self.history.tell(passage.put).to_string());
        let text = format!(
            "between {} and {} there have to be {} values in a buffer for {room}, of {}",
            within.from,
            within.to,
            crowd.len(),
            puts.take(3).collect::<Vec<_>>().join(", "),
        );
        let witness = crowd.into_iter().flat_map(History::both);
        self.history.reject("C3", text, witness)
    }

    fn reject_order(&self, Inversion { first, second }: Inversion) -> Rejection {
        let (first, second) = (self.values[first], self.values[second]);
        let [earlier, later] = [first, second].map(|passage| self.history.tell(passage.put));
        let take = |passage: Passage| passage.take.map(|take| self.history.tell(take).to_string());
        let early = take(second).unwrap_or_default();
        let late = take(first).map_or("no call took the first".to_owned(), |take| {
            format!("only then {take}")
        });
        let text = format!("{earlier} was over before {later}, but there was {early}, and {late}");
        let witness = History::both(first).chain(History::both(second));
        self.history.reject("C2", text, witness)
    }

    /// The queue cannot be empty anywhere in `answer`: finds the fewest values that show it, one after the other.
    fn reject_empty(&self, id: &'static str, answer: usize) -> Rejection {
        let mut moment = self.history.interval(answer);
        let certain = self.certain();
        let mut chain: Vec<Passage> = Vec::new();
        loop {
            let around = certain
                .iter()
                .enumerate()
                .filter(|(_, value)| value.from < moment.from && moment.from < value.to);
            let Some((value, stretch)) = around.max_by_key(|(_, value)| value.to) else {
                break;
            };
            chain.push(self.values[value]);
            if moment.to < stretch.to {
                break;
            }
            moment.from = stretch.to;
        }
        let values: Vec<String> = chain
            .iter()
            .map(|passage| self.history.tell(passage.put).to_string())
            .collect();
        let text = format!(
            "{}, though the queue was never empty meanwhile: there was the value of {}",
            self.history.tell(answer),
            values.join(", then that of "),
        );
        let witness = [answer]
            .into_iter()
            .chain(chain.into_iter().flat_map(History::both));
        self.history.reject(id, text, witness)
    }
}
