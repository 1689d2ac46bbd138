package main

import (
	"math"
	"math/rand/v2"
)

const (
	micro = int64(1_000)
	milli = 1_000 * micro
	hour  = 3_600_000 * milli
)

// delays are how long timers are armed for, as suites/workloads/src/workloads/timers/delays.rs has them; nil where it has none of
// that name.
func delays(name string, random *rand.Rand) func() int64 {
	within := func(from, to int64) int64 { return from + random.Int64N(to-from) }
	switch name {
	case "fixed":
		return func() int64 { return 20 * milli }
	case "uniform":
		return func() int64 { return within(100*micro, 40*milli) }
	case "log-uniform":
		from, to := math.Log(float64(100*micro)), math.Log(float64(hour))
		return func() int64 { return int64(math.Exp(from + random.Float64()*(to-from))) }
	case "two-humped":
		return func() int64 {
			if random.IntN(2) == 0 {
				return within(milli, 2*milli)
			}
			return within(60_000*milli, 120_000*milli)
		}
	}
	return nil
}
