package main

import (
	"math/rand/v2"
	"sync/atomic"
	"time"
)

const minute = int64(time.Minute)

// churn arms a timer and calls it off, while others stay armed; nanoseconds for both.
type churn struct {
	random *rand.Rand
	// Held, so that they stay armed.
	kept []*time.Timer
	solo
}

func newChurn(outstanding int) stage {
	it := &churn{random: rand.New(rand.NewPCG(1, 1))}
	for left := outstanding; left > 0; left-- {
		it.kept = append(it.kept, time.AfterFunc(it.far(), func() {}))
	}
	it.solo.batch = it.turns
	return it
}

// far is a minute to an hour.
func (c *churn) far() time.Duration {
	return time.Duration(minute + c.random.Int64N(59*minute))
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
