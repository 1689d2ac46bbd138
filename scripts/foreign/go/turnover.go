package main

import (
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// counted arms a timer whose firing is counted, and answers what calls it off: whether it had not fired.
type counted func(due int64, calls *calls) func() bool

func countedByAfterFunc(due int64, calls *calls) func() bool {
	return time.AfterFunc(time.Duration(due-now()), calls.of(due)).Stop
}

// countedBySelect is a goroutine that waits for its timer, or for a channel that is closed when the answer has come.
func countedBySelect(due int64, calls *calls) func() bool {
	quit := make(chan struct{})
	var decided atomic.Bool
	go func() {
		timer := time.NewTimer(time.Duration(due - now()))
		select {
		case <-timer.C:
			if !decided.Swap(true) {
				calls.of(due)()
			}
		case <-quit:
			timer.Stop()
		}
	}()
	return func() bool {
		if decided.Swap(true) {
			return false
		}
		close(quit)
		return true
	}
}

// turnover has timers come at a steady rate, of which a share is called off when its answer comes; the value is the CPU
// time of a timer. Both edges lie where all that was due has fired.
type turnover struct {
	params params
	arm    counted
}

const (
	tick = 5 * milli
	// From the arming of a timer that is called off to its answer.
	answered = 5 * milli
	// Ticks before the first edge, and of a window at least.
	rampTicks, leastTicks = 10, 20
)

type awaited struct {
	answer, due int64
	callOff     func() bool
}

// course is one window's.
type course struct {
	*turnover
	calls  *calls
	begin  int64
	delay  func() int64
	random *rand.Rand
	// In the order of their answers.
	awaiting []awaited
	// Those that are left alone.
	left []func() bool
	// How many of those that were called off had fired, and how many are to fire in which tick.
	fired  int64
	toFire []int64
}

func (t *turnover) prove() error {
	_, err := t.run(leastTicks, 1, &calls{judged: true})
	if void, told := err.(failed); told && void.kind == "void" {
		// What a busy machine makes late is no fault.
		return nil
	}
	return err
}

func (t *turnover) window(spec spec) (*sample, error) {
	return t.run(max(spec.nanos/tick, leastTicks), spec.seed, &calls{})
}

func (t *turnover) run(ticks int64, seed uint64, calls *calls) (*sample, error) {
	random := rand.New(rand.NewPCG(seed, 1))
	c := &course{turnover: t, calls: calls, begin: now(), delay: delays(t.params.Delays, random), random: random,
		toFire: make([]int64, 4*(rampTicks+ticks))}
	c.ticks(rampTicks)
	if err := c.catchUp(); err != nil {
		return nil, err
	}
	before, first := used(), now()
	late := c.ticks(ticks)
	if err := c.catchUp(); err != nil {
		return nil, err
	}
	cost, last := used().since(before), now()
	if err := c.ends(); err != nil {
		return nil, err
	}
	if late > ticks*tick/10 {
		return nil, nothing("fell %d ms behind in %d ms", late/milli, ticks*tick/milli)
	}
	if cost == nil {
		return nil, nothing("the system does not tell CPU time")
	}
	timers := ticks * t.aTick()
	return newSample(float64(max(1, cost.cpu))/float64(timers), uint64(timers), last-first, cost), nil
}

// aTick is how many timers are armed in a tick.
func (t *turnover) aTick() int64 { return int64(t.params.PerSecond) * tick / 1_000_000_000 }

// ticks are so many; how late the last of them ended.
func (c *course) ticks(count int64) int64 {
	first := now()
	for place := range count {
		begins := first + place*tick
		time.Sleep(time.Duration(begins - now()))
		c.tick(begins)
	}
	end := first + count*tick
	time.Sleep(time.Duration(end - now()))
	return now() - end
}

// tick arms the timers of the next, spread over it, and calls off those whose answers have come.
func (c *course) tick(begins int64) {
	timers := c.aTick()
	for timer := range timers {
		asked := begins + timer*tick/timers
		due := asked + c.delay()
		isCalledOff := c.random.IntN(1_000) < c.params.CalledOffPermille
		callOff := c.arm(due, c.calls)
		if answer := asked + answered; isCalledOff && answer < due {
			c.awaiting = append(c.awaiting, awaited{answer, due, callOff})
		} else {
			c.isLeft(due)
			c.left = append(c.left, callOff)
		}
	}
	for len(c.awaiting) > 0 && c.awaiting[0].answer <= begins {
		one := c.awaiting[0]
		c.awaiting = c.awaiting[1:]
		if !one.callOff() {
			c.fired++
			c.isLeft(one.due)
		}
	}
}

// isLeft says that one is to fire, if it is due while anybody looks.
func (c *course) isLeft(due int64) {
	if place := (due - c.begin) / tick; place < int64(len(c.toFire)) {
		c.toFire[place]++
	}
}

// catchUp waits until all has fired that was due by the tick that has just begun.
func (c *course) catchUp() error {
	var due int64
	for _, count := range c.toFire[:min(int64(len(c.toFire)), (now()-c.begin)/tick)] {
		due += count
	}
	return c.calls.waitUntil(due)
}

// ends calls off what is left: whatever cannot be has fired, once.
func (c *course) ends() error {
	for _, one := range c.awaiting {
		c.left = append(c.left, one.callOff)
	}
	for _, callOff := range c.left {
		if !callOff() {
			c.fired++
		}
	}
	return c.calls.waitFor(c.fired)
}
