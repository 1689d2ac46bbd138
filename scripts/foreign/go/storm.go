package main

import (
	"sync/atomic"
	"time"
)

// storm has many timers due at one moment: the time from it until the last has called, for each of them.
type storm struct {
	arm    armed
	timers int
	// How long arming took last, nanoseconds: the next storm is due later than that.
	arming int64
}

func newStorm(arm armed, timers int) stage {
	return &storm{arm, timers, int64(timers) * 2_000}
}

func (s *storm) once() (int64, *usage, error) {
	for tries := 10; tries > 0; tries-- {
		began := now()
		due := began + 2*s.arming + 2_000_000
		var toCall, earliest atomic.Int64
		toCall.Store(int64(s.timers))
		over := make(chan int64, 1)
		call := func() {
			// Only the first and the last read the clock: the storm is timed, not the clock.
			left := toCall.Add(-1)
			if left == int64(s.timers)-1 {
				earliest.Store(now())
			}
			if left == 0 {
				over <- now()
			}
		}
		for left := s.timers; left > 0; left-- {
			s.arm(due, call)
		}
		moment := now()
		s.arming = moment - began
		time.Sleep(time.Duration(due - moment))
		before := used()
		var latest int64
		select {
		case latest = <-over:
		case <-time.After(10 * time.Second):
			return 0, nil, failed{"hang", "timers did not fire within 10 s"}
		}
		if moment < due {
			if earliest.Load() < due {
				return 0, nil, disproved("a timer fired before its deadline")
			}
			return max(1, latest-due), used().since(before), nil
		}
	}
	return 0, nil, nothing("%d timers were never armed before they were due, in 10 tries", s.timers)
}

func (s *storm) prove() error {
	_, _, err := s.once()
	return err
}

func (s *storm) window(spec spec) (*sample, error) {
	end := now() + spec.nanos
	var count, nanos int64
	cost := &usage{}
	for count == 0 || now() < end {
		took, used, err := s.once()
		if err != nil {
			return nil, err
		}
		count += int64(s.timers)
		nanos += took
		if used != nil {
			cost = &usage{cost.cpu + used.cpu, cost.voluntary + used.voluntary, cost.involuntary + used.involuntary}
		}
	}
	return newSample(float64(nanos)/float64(count), uint64(count), nanos, cost), nil
}
