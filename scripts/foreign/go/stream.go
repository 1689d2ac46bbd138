package main

import "sync/atomic"

// proofValues are sent by a proof, over all producers.
const proofValues = 4_000

// stream has producers put as fast as they can, and consumers take as fast as they can. Consumers count; the last producer
// to end puts a sentinel for each of them.
type stream struct{ producers, consumers, room int }

// overfull says whether a channel takes in more than it has room for when nothing takes.
func overfull(room int) error {
	channel := make(chan uint64, room)
	for taken := 0; ; taken++ {
		select {
		case channel <- 0:
		default:
			return nil
		}
		if taken == room {
			return disproved("it took in %d values without a take, and its capacity is %d", taken+1, room)
		}
	}
}

func (s *stream) prove() error {
	if err := overfull(s.room); err != nil {
		return err
	}
	bound := newBound(s.room)
	turns := max(16, proofValues/s.producers)
	puts, takes := watches(s.producers, func() *watch { return recorded(turns, bound) }),
		watches(s.consumers, func() *watch { return recorded(never, bound) })
	if err := s.run(nil, puts, takes); err != nil {
		return err
	}
	if err := bound.kept(); err != nil {
		return err
	}
	return exact(puts, takes)
}

func (s *stream) window(spec spec) (*sample, error) {
	edges := newEdges(spec, s.consumers)
	puts, takes := watches(s.producers, func() *watch { return timed(edges.laps(false)) }),
		watches(s.consumers, func() *watch { return timed(edges.laps(true)) })
	if err := s.run(edges, puts, takes); err != nil {
		return nil, err
	}
	return settled(edges, puts, takes)
}

// settled is what a window came to, if the books agree.
func settled(edges *edges, puts, takes []*watch) (*sample, error) {
	if err := agree(puts, takes); err != nil {
		return nil, err
	}
	var counters []*laps
	for _, watch := range takes {
		counters = append(counters, watch.laps)
	}
	return edges.sample(counters)
}

func watches(count int, one func() *watch) []*watch {
	all := make([]*watch, count)
	for place := range all {
		all[place] = one()
	}
	return all
}

func (s *stream) run(edges *edges, puts, takes []*watch) error {
	channel := make(chan uint64, s.room)
	var remaining atomic.Int64
	remaining.Store(int64(s.producers))
	var jobs []func() error
	for _, watch := range takes {
		jobs = append(jobs, func() error { consume(channel, watch); return nil })
	}
	for producer, watch := range puts {
		jobs = append(jobs, func() error {
			produce(channel, stampOf(producer), watch)
			if remaining.Add(-1) == 0 {
				for range takes {
					channel <- sentinel
				}
			}
			return nil
		})
	}
	return together(edges, jobs)
}

func produce(channel chan<- uint64, next uint64, watch *watch) {
	for {
		chunk := watch.chunk()
		for left := chunk; left > 0; left-- {
			channel <- next
			watch.hasPut(next)
			next++
		}
		if watch.lap(chunk) {
			return
		}
	}
}

func consume(channel <-chan uint64, watch *watch) {
	for {
		chunk := watch.chunk()
		for turn := range chunk {
			watch.willTake()
			stamp := <-channel
			if stamp == sentinel {
				watch.lap(turn)
				return
			}
			watch.note(stamp)
		}
		// Producers decide when it is over.
		watch.lap(chunk)
	}
}
