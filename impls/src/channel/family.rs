//! The family of a design, as the harness sees it, written once for all designs.
//!
//! The halves are those of [`halves`](super::halves): counted (C14), and directly over the one handle. A family has all
//! that a [`Handle`](super::handle::Handle) can do, and the design's own alts. The macro expects these names in scope:
//!
//! * `Producer`, `Consumer`, `WeakProducer` and `Permit`
//! * `Prepared`, with `new` and `run`
//! * `TakeClause`, `PutClause` and `AnyClause`, with the methods that the harness needs
//! * `run_mixed` and `run_async`

/// Declares the family `$Family` of the handle `$Channel<T>`:
///
/// ```ignore
/// family! {
///     /// The family of [`Channel`].
///     pub MutexChannels of Channel
/// }
/// ```
macro_rules! family {
    ($(#[$about:meta])* pub $Family:ident of $Channel:ident) => {
        $(#[$about])*
        #[derive(Debug)]
        pub struct $Family;

        const _: () = {
            use std::collections::VecDeque;
            use std::future::Future;
            use std::num::NonZeroUsize;

            use flowmeter_harness::channel::*;
            use flowmeter_harness::sync::Deadline;

            use $crate::channel::halves::split;

            type Tx<T> = Producer<T>;
            type Rx<T> = Consumer<T>;

            impl Channels for $Family {
                type Tx<T: Message> = Tx<T>;
                type Rx<T: Message> = Rx<T>;

                fn open<T: Message>(buffer: Buffer) -> Option<(Tx<T>, Rx<T>)> {
                    Some($Channel::split(buffer))
                }
                fn another_tx<T: Message>(tx: &Tx<T>) -> Option<Tx<T>> {
                    Some(tx.clone())
                }
                fn another_rx<T: Message>(rx: &Rx<T>) -> Option<Rx<T>> {
                    Some(rx.clone())
                }
                fn close<T: Message>(tx: &Tx<T>) -> bool {
                    tx.close();
                    true
                }
                fn close_rx<T: Message>(rx: &mut Rx<T>) -> bool {
                    rx.close();
                    true
                }
                fn same_tx<T: Message>(one: &Tx<T>, other: &Tx<T>) -> Option<bool> {
                    Some(one == other)
                }
                fn same_rx<T: Message>(one: &Rx<T>, other: &Rx<T>) -> Option<bool> {
                    Some(one == other)
                }
                #[cfg_attr(not(debug_assertions), inline(always))]
                fn offer<T: Message>(tx: &mut Tx<T>, value: T) -> Offered<T> {
                    tx.offer(value)
                }
                #[cfg_attr(not(debug_assertions), inline(always))]
                fn poll<T: Message>(rx: &mut Rx<T>) -> Polled<T> {
                    rx.poll()
                }
            }

            impl Blocking for $Family {
                #[cfg_attr(not(debug_assertions), inline(always))]
                fn put<T: Message>(tx: &mut Tx<T>, value: T) -> Result<(), PutError<T>> {
                    tx.put(value)
                }
                #[cfg_attr(not(debug_assertions), inline(always))]
                fn take<T: Message>(rx: &mut Rx<T>) -> Result<T, TakeError> {
                    rx.take()
                }
            }

            impl PutDeadline for $Family {
                #[inline]
                fn put_until<T: Message>(
                    tx: &mut Tx<T>,
                    value: T,
                    deadline: Deadline,
                ) -> Result<(), PutUntilError<T>> {
                    tx.put_until(value, deadline)
                }
            }

            impl TakeDeadline for $Family {
                #[inline]
                fn take_until<T: Message>(
                    rx: &mut Rx<T>,
                    deadline: Deadline,
                ) -> Result<T, TakeUntilError> {
                    rx.take_until(deadline)
                }
            }

            impl Async for $Family {
                #[cfg_attr(not(debug_assertions), inline(always))]
                fn put_async<T: Message>(
                    tx: &mut Tx<T>,
                    value: T,
                ) -> impl Future<Output = Result<(), PutError<T>>> + Send {
                    tx.put_async(value)
                }
                #[cfg_attr(not(debug_assertions), inline(always))]
                fn take_async<T: Message>(
                    rx: &mut Rx<T>,
                ) -> impl Future<Output = Result<T, TakeError>> + Send {
                    rx.take_async()
                }
            }

            impl WeakProducers for $Family {
                type WeakTx<T: Message> = WeakProducer<T>;

                fn downgrade<T: Message>(tx: &Tx<T>) -> WeakProducer<T> {
                    tx.downgrade()
                }
                fn upgrade<T: Message>(weak: &WeakProducer<T>) -> Option<Tx<T>> {
                    weak.upgrade()
                }
            }

            impl Callback for $Family {
                fn put_then<T: Message>(
                    tx: &Tx<T>,
                    value: T,
                    then: impl FnOnce(Result<(), PutError<T>>) + Send + 'static,
                ) {
                    tx.put_then(value, then);
                }
                fn take_then<T: Message>(
                    rx: &Rx<T>,
                    then: impl FnOnce(Result<T, TakeError>) + Send + 'static,
                ) {
                    rx.take_then(then);
                }
            }

            impl Batch for $Family {
                fn take_many<T: Message>(
                    rx: &mut Rx<T>,
                    limit: NonZeroUsize,
                    values: &mut Vec<T>,
                ) -> Result<usize, TakeError> {
                    rx.take_many(limit, values)
                }
                fn put_many<T: Message>(
                    tx: &mut Tx<T>,
                    values: &mut VecDeque<T>,
                ) -> Result<(), BatchError> {
                    tx.put_many(values)
                }
            }

            impl AsyncBatch for $Family {
                fn take_many_async<T: Message>(
                    rx: &mut Rx<T>,
                    limit: NonZeroUsize,
                    values: &mut Vec<T>,
                ) -> impl Future<Output = Result<usize, TakeError>> + Send {
                    rx.take_many_async(limit, values)
                }
                fn put_many_async<T: Message>(
                    tx: &mut Tx<T>,
                    values: &mut VecDeque<T>,
                ) -> impl Future<Output = Result<(), BatchError>> + Send {
                    tx.put_many_async(values)
                }
            }

            impl Reserve for $Family {
                type Permit<'a, T: Message> = Permit<'a, T>;

                fn try_reserve<T: Message>(tx: &Tx<T>) -> Result<Self::Permit<'_, T>, ReserveError> {
                    tx.try_reserve()
                }
                fn fill<T: Message>(permit: Self::Permit<'_, T>, value: T) -> Result<(), T> {
                    permit.fill(value)
                }
            }

            impl BlockingReserve for $Family {
                fn reserve<T: Message>(tx: &Tx<T>) -> Result<Self::Permit<'_, T>, ReserveError> {
                    tx.reserve()
                }
            }

            impl AsyncReserve for $Family {
                fn reserve_async<T: Message>(
                    tx: &Tx<T>,
                ) -> impl Future<Output = Result<Self::Permit<'_, T>, ReserveError>> + Send {
                    tx.reserve_async()
                }
            }

            impl AwaitClose for $Family {
                fn closed<T: Message>(tx: &Tx<T>) -> impl Future<Output = ()> + Send {
                    tx.closed()
                }
            }

            impl Promises for $Family {
                fn open_promise<T: Message + Clone>() -> (Tx<T>, Rx<T>) {
                    split($Channel::promise())
                }
            }

            impl Transforms for $Family {
                fn open_transformed<T: Message>(
                    buffer: Buffer,
                    transform: impl Transform<T>,
                    handler: impl Handler<T>,
                ) -> Result<Opened<Self, T>, TransformError> {
                    $Channel::transformed(buffer, transform, handler).map(split)
                }
            }

            impl Alts for $Family {
                type Prepared<'a, T: Message> = Prepared<'a, T>;

                fn prepare<'a, T: Message>(
                    clauses: &'a [Clause<'a, Self, T>],
                    order: Order,
                ) -> Prepared<'a, T> {
                    Prepared::new(clauses, order)
                }
                fn run<T: Message>(
                    prepared: &mut Prepared<'_, T>,
                    slots: &mut [Option<T>],
                    patience: Patience,
                ) -> Result<Chosen<T>, AltsError> {
                    prepared.run(slots, patience)
                }
            }

            impl MixedAlts for $Family {
                type TakeClause<'a, T: Message> = TakeClause<'a, T>;
                type PutClause<'a, T: Message> = PutClause<'a, T>;
                type AnyClause<'c> = AnyClause<'c>;

                fn take_clause<T: Message>(rx: &Rx<T>) -> TakeClause<'_, T> {
                    TakeClause::new(rx.handle())
                }
                fn put_clause<T: Message>(tx: &Tx<T>, slot: Option<T>) -> PutClause<'_, T> {
                    PutClause::new(tx.handle(), slot)
                }
                fn any_take<'c, T: Message>(clause: &'c mut TakeClause<'_, T>) -> AnyClause<'c> {
                    AnyClause::take(clause)
                }
                fn any_put<'c, T: Message>(clause: &'c mut PutClause<'_, T>) -> AnyClause<'c> {
                    AnyClause::put(clause)
                }
                fn taken<T: Message>(clause: &mut TakeClause<'_, T>) -> Option<T> {
                    clause.taken()
                }
                fn slot<'c, T: Message>(clause: &'c mut PutClause<'_, T>) -> &'c mut Option<T> {
                    clause.slot()
                }
                fn run_mixed(
                    clauses: &mut [AnyClause<'_>],
                    order: Order,
                    patience: Patience,
                ) -> Result<Winner, AltsError> {
                    run_mixed(clauses, order, patience)
                }
            }

            impl<T: Message> TakePort for Rx<T> {
                type Family = $Family;
                type Message = T;

                fn take_clause(&self) -> TakeClause<'_, T> {
                    TakeClause::new(self.handle())
                }
            }

            impl<T: Message> PutPort for Tx<T> {
                type Family = $Family;
                type Message = T;

                fn put_clause(&self, slot: Option<T>) -> PutClause<'_, T> {
                    PutClause::new(self.handle(), slot)
                }
            }

            /// The shared handle is both a take port and a put port.
            impl<T: Message> TakePort for $Channel<T> {
                type Family = $Family;
                type Message = T;

                fn take_clause(&self) -> TakeClause<'_, T> {
                    TakeClause::new(self)
                }
            }

            impl<T: Message> PutPort for $Channel<T> {
                type Family = $Family;
                type Message = T;

                fn put_clause(&self, slot: Option<T>) -> PutClause<'_, T> {
                    PutClause::new(self, slot)
                }
            }

            impl AwaitAlts for $Family {
                fn run_async(
                    clauses: &mut [Self::AnyClause<'_>],
                    order: Order,
                    until: impl Future<Output = ()> + Send,
                ) -> impl Future<Output = Result<Winner, AltsError>> + Send {
                    run_async(clauses, order, until)
                }
            }
        };
    };
}

pub(crate) use family;
