package main

import (
	"math"
	"sync"
	"sync/atomic"
)

// edges are the two of a window, as in harness/measure/src/edges.rs: it begins when the last goroutine of its workload has
// started to run, each that counts divides the chunk that spans an edge in proportion to time, and they go on after the
// second edge until all counting goroutines have passed it, but no longer than 5 ms.
type edges struct {
	spec      spec
	begins    atomic.Int64
	counting  atomic.Int64
	firstOnce sync.Once
	lastOnce  sync.Once
	atFirst   *usage
	atLast    *usage
}

const (
	grace = 5_000_000
	never = math.MaxInt64
	// A chunk shorter than this is doubled, one longer than the other halved, nanoseconds.
	shortChunk, longChunk = 20_000, 100_000
	mostChunk             = 1024
	// Nearer to an edge than this chunks are a sixteenth as long, so that little is left to be divided.
	near = 2 * longChunk
)

func newEdges(spec spec, counting int) *edges {
	it := &edges{spec: spec}
	it.begins.Store(never)
	it.counting.Store(int64(counting))
	return it
}

func (e *edges) begin() { e.begins.Store(now()) }

// laps are the chunks of one goroutine.
type laps struct {
	edges        *edges
	counts       bool
	usual, chunk int
	began        int64
	counted      float64
	passedFirst  bool
	passedLast   bool
}

func (e *edges) laps(counts bool) *laps {
	return &laps{edges: e, counts: counts, usual: 1, chunk: 1, began: now()}
}

// lap ends a chunk of so many operations; whether it is over.
func (l *laps) lap(operations int) bool {
	moment := now()
	took := moment - l.began
	if took > longChunk {
		l.usual = max(1, l.usual/2)
	} else if took < shortChunk && l.chunk == l.usual {
		l.usual = min(mostChunk, l.usual*2)
	}
	l.chunk = l.usual
	begins := l.edges.begins.Load()
	if begins != never {
		first := begins + l.edges.spec.ramp
		last := first + l.edges.spec.nanos
		if l.counts && took > 0 {
			if within := min(moment, last) - max(l.began, first); within > 0 {
				l.counted += float64(operations) * float64(within) / float64(took)
			}
		}
		if !l.passedFirst && moment >= first {
			l.passedFirst = true
			l.edges.firstOnce.Do(func() { l.edges.atFirst = used() })
		}
		if !l.passedLast && moment >= last {
			l.passedLast = true
			l.edges.lastOnce.Do(func() { l.edges.atLast = used() })
			if l.counts {
				l.edges.counting.Add(-1)
			}
		}
		edge := first
		if l.passedFirst {
			edge = last
		}
		if !l.passedLast && edge-moment < near {
			l.chunk = max(1, l.usual/16)
		}
		if moment-last >= grace {
			return true
		}
	}
	l.began = moment
	return l.edges.counting.Load() == 0
}

// sample is operations a second of the goroutines that counted.
func (e *edges) sample(counters []*laps) (*sample, error) {
	var operations float64
	for _, counter := range counters {
		if !counter.passedFirst || !counter.passedLast {
			return nil, nothing("a counting goroutine ended before the window did")
		}
		operations += counter.counted
	}
	if operations <= 0 {
		return nil, nothing("no operation completed between the edges")
	}
	whole := max(1, uint64(math.Round(operations)))
	return newSample(operations*1e9/float64(e.spec.nanos), whole, e.spec.nanos, e.atLast.since(e.atFirst)), nil
}

func counters(all ...*laps) []*laps { return all }

// together runs them as goroutines to their ends; the window, if there is one, begins when the last has started. The first
// that fails is told at once: the others may wait for it for ever.
func together(edges *edges, jobs []func() error) error {
	var toStart atomic.Int64
	toStart.Store(int64(len(jobs)))
	ends := make(chan error, len(jobs))
	for _, job := range jobs {
		go func() {
			if toStart.Add(-1) == 0 && edges != nil {
				edges.begin()
			}
			ends <- job()
		}()
	}
	for range jobs {
		if err := <-ends; err != nil {
			return err
		}
	}
	return nil
}
