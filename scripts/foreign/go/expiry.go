package main

import (
	"sync"
	"time"
)

// expiry has so many timers armed, each anew from where it fired; firings a second. The first deadlines are spread over
// one delay, and each later delay is drawn from 5 % to both sides of it.
type expiry struct {
	again  again
	timers int
	delay  int64
}

// sleeper is one of them: only its own calls count, one after the other.
type sleeper struct {
	due, fired, early int64
	random            uint64
}

// below draws a number below n.
func (s *sleeper) below(n int64) int64 {
	s.random = s.random*6364136223846793005 + 1442695040888963407
	return int64(s.random>>33) * n >> 31
}

func (e *expiry) prove() error {
	// Twice as long each time that a busy machine let nothing happen in it.
	for nanos := 20_000_000 + 2*e.delay; ; nanos *= 2 {
		_, err := e.window(spec{nanos: nanos, seed: 1, proof: true})
		if void, told := err.(failed); !told || void.kind != "void" || nanos > 500_000_000 {
			return err
		}
	}
}

func (e *expiry) window(spec spec) (*sample, error) {
	first := now() + spec.ramp
	last := first + spec.nanos
	sleepers := make([]sleeper, e.timers)
	var asleep sync.WaitGroup
	asleep.Add(e.timers)
	for place := range sleepers {
		it := &sleepers[place]
		it.random = spec.seed ^ uint64(place)<<32
		it.below(1)
		it.due = now() + 1 + it.below(e.delay)
		e.again(it.due, func() int64 {
			called := now()
			if called >= first && called < last {
				it.fired++
				if called < it.due {
					it.early++
				}
			}
			it.due = now() + e.delay - e.delay/20 + it.below(e.delay/10+1)
			if it.due >= last {
				asleep.Done()
				return over
			}
			return it.due
		})
	}
	time.Sleep(time.Duration(first - now()))
	before := used()
	time.Sleep(time.Duration(last - now()))
	cost := used().since(before)
	asleep.Wait()
	var fired, early int64
	for _, it := range sleepers {
		fired += it.fired
		early += it.early
	}
	if early > 0 {
		return nil, disproved("%d timers fired before their deadline", early)
	}
	if fired == 0 {
		return nil, nothing("no timer fired within the window")
	}
	return newSample(float64(fired)*1e9/float64(spec.nanos), uint64(fired), spec.nanos, cost), nil
}
