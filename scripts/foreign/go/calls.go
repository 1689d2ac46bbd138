package main

import (
	"fmt"
	"sync/atomic"
	"time"
)

// patience is what a timer has to fire in, nanoseconds.
var patience = int64(10_000_000_000)

// calls of timers, counted by the calling goroutine.
type calls struct {
	// Whether each is held against its deadline: in proofs, for reading the clock is not for free.
	judged       bool
	fired, early atomic.Int64
}

// of a timer that is due then: what it calls.
func (c *calls) of(due int64) func() {
	if !c.judged {
		return c.unjudged
	}
	return func() {
		if now() < due {
			c.early.Add(1)
		}
		c.fired.Add(1)
	}
}

func (c *calls) unjudged() { c.fired.Add(1) }

// waitUntil waits until so many have fired, or more. It sleeps: CPU time is what is looked at.
func (c *calls) waitUntil(count int64) error {
	for until := now() + patience; c.fired.Load() < count; {
		if now() > until {
			return failed{"hang", fmt.Sprintf("%d of %d timers fired within %d s", c.fired.Load(), count, patience/1_000_000_000)}
		}
		time.Sleep(100 * time.Microsecond)
	}
	return nil
}

// waitFor waits until so many have fired, and no more.
func (c *calls) waitFor(count int64) error {
	if err := c.waitUntil(count); err != nil {
		return err
	}
	if early := c.early.Load(); early > 0 {
		return disproved("%d timers fired before their deadline", early)
	}
	if fired := c.fired.Load(); fired != count {
		return disproved("%d timers fired %d times", count, fired)
	}
	return nil
}
