package main

import (
	"math/rand"
	"sync"
	"sync/atomic"
	"time"
)

// armed has something called at a moment.
type armed func(due int64, call func())

func byAfterFunc(due int64, call func()) {
	time.AfterFunc(time.Duration(due-now()), call)
}

func bySleep(due int64, call func()) {
	go func() {
		time.Sleep(time.Duration(due - now()))
		call()
	}()
}

const minute = int64(time.Minute)

// churn arms a timer and calls it off, while others stay armed; nanoseconds for both.
type churn struct {
	random *rand.Rand
	// Held, so that they stay armed.
	kept []*time.Timer
	solo
}

func newChurn(outstanding int) stage {
	it := &churn{random: rand.New(rand.NewSource(1))}
	for left := outstanding; left > 0; left-- {
		it.kept = append(it.kept, time.AfterFunc(it.far(), func() {}))
	}
	it.solo.batch = it.turns
	return it
}

// far is a minute to an hour.
func (c *churn) far() time.Duration {
	return time.Duration(minute + c.random.Int63n(59*minute))
}

func (c *churn) turns(count int) error {
	for ; count > 0; count-- {
		if !time.AfterFunc(c.far(), func() {}).Stop() {
			return disproved("a timer fired a minute early")
		}
	}
	return nil
}

func (c *churn) prove() error {
	const timers = 10
	var early atomic.Int64
	called := make(chan struct{}, timers)
	for left := timers; left > 0; left-- {
		due := now() + 3_000_000
		byAfterFunc(due, func() {
			if now() < due {
				early.Add(1)
			}
			called <- struct{}{}
		})
		if err := c.turns(1); err != nil {
			return err
		}
	}
	for left := timers; left > 0; left-- {
		select {
		case <-called:
		case <-time.After(10 * time.Second):
			return failed{"hang", "timers did not fire within 10 s"}
		}
	}
	if early.Load() > 0 {
		return disproved("%d timers fired before their deadline", early.Load())
	}
	return c.solo.prove()
}

// lateness has sleepers note how long after its deadline each was called; the value is the 99th percentile.
type lateness struct {
	arm    armed
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
	first := now() + spec.ramp
	last := first + spec.nanos
	var called histogram
	var early atomic.Uint64
	var asleep sync.WaitGroup
	var sleep func(random *rand.Rand)
	sleep = func(random *rand.Rand) {
		due := now() + shortest + random.Int63n(longest-shortest+1)
		l.arm(due, func() {
			late := now() - due
			if due >= first && due < last {
				if late < 0 {
					early.Add(1)
				} else {
					called.record(uint64(late))
				}
			}
			if due < last {
				sleep(random)
			} else {
				asleep.Done()
			}
		})
	}
	asleep.Add(l.params.Timers)
	for sleeper := 0; sleeper < l.params.Timers; sleeper++ {
		sleep(rand.New(rand.NewSource(int64(spec.seed) + int64(sleeper))))
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
