package main

import (
	"math/rand"
	"sync"
	"sync/atomic"
	"time"
)

// lateness has sleepers note how long after its deadline each was called; the value is the 99th percentile.
type lateness struct {
	again  again
	params params
}

// enough firings for a 99th percentile.
const enough = 2_000

func (l *lateness) prove() error {
	for nanos := int64(20_000_000); ; nanos *= 2 {
		_, err := l.window(spec{nanos: nanos, seed: 1, proof: true})
		if void, told := err.(failed); !told || void.kind != "void" || nanos > 200_000_000 {
			return err
		}
	}
}

func (l *lateness) window(spec spec) (*sample, error) {
	shortest, longest := 1_000*l.params.ShortestMicros, 1_000*l.params.LongestMicros
	if !spec.proof {
		spec.nanos = max(spec.nanos, enough*((shortest+longest)/2)/int64(l.params.Timers))
	}
	began := now()
	first := began + spec.ramp
	last := first + spec.nanos
	var called histogram
	var early atomic.Uint64
	var asleep sync.WaitGroup
	asleep.Add(l.params.Timers)
	for sleeper := 0; sleeper < l.params.Timers; sleeper++ {
		random := rand.New(rand.NewSource(int64(spec.seed) + int64(sleeper)))
		// Each deadline follows from the one before, however late that was met: a stall makes all in it late.
		after := func(due int64) int64 { return due + shortest + random.Int63n(longest-shortest+1) }
		due := after(began)
		l.again(due, func() int64 {
			late := now() - due
			if due >= first && due < last {
				if late < 0 {
					early.Add(1)
				} else {
					called.record(uint64(late))
				}
			}
			if due = after(due); due >= last {
				asleep.Done()
				return over
			}
			return due
		})
	}
	time.Sleep(time.Duration(first - now()))
	before := used()
	time.Sleep(time.Duration(last - now()))
	cost := used().since(before)
	asleep.Wait()
	if early.Load() > 0 {
		return nil, disproved("%d timers fired before their deadline", early.Load())
	}
	if called.count == 0 {
		return nil, nothing("no timer was due within the window")
	}
	sample := newSample(float64(called.percentile(99)), called.count, spec.nanos, cost)
	sample.Lateness = &late{Called: called.pairs()}
	return sample, nil
}
