package main

import (
	"strings"
	"testing"
	"time"
)

// tellsOf says what an error has to be about; "" is none.
func tellsOf(t *testing.T, what string, err error, part string) {
	t.Helper()
	if part == "" && err != nil || part != "" && (err == nil || !strings.Contains(err.Error(), part)) {
		t.Errorf("%s: %v where %q was due", what, err, part)
	}
}

func TestTimersThatFireEarlyTwiceOrNeverAreNoTurnover(t *testing.T) {
	patience = 300_000_000
	defer func() { patience = 10_000_000_000 }()
	armed := 0
	// Every hundredth of them is armed wrongly.
	seldom := func(wrongly counted) counted {
		return func(due int64, calls *calls) func() bool {
			if armed++; armed%100 == 0 {
				return wrongly(due, calls)
			}
			return countedByAfterFunc(due, calls)
		}
	}
	for part, wrongly := range map[string]counted{
		"": countedByAfterFunc,
		"before their deadline": func(due int64, calls *calls) func() bool {
			return time.AfterFunc(time.Duration(due-now()-10*milli), calls.of(due)).Stop
		},
		" times": func(due int64, calls *calls) func() bool {
			return time.AfterFunc(time.Duration(due-now()), func() { calls.of(due)(); calls.of(due)() }).Stop
		},
		"timers fired within": func(due int64, calls *calls) func() bool {
			return time.AfterFunc(time.Duration(due-now()), func() {}).Stop
		},
	} {
		stage := &turnover{params: params{PerSecond: 10_000, Delays: "fixed"}, arm: seldom(wrongly)}
		tellsOf(t, "a turnover", stage.prove(), part)
	}
	// A timer that claims to be called off and fires all the same.
	stage := &turnover{params: params{PerSecond: 10_000, CalledOffPermille: 500, Delays: "fixed"},
		arm: func(due int64, calls *calls) func() bool {
			time.AfterFunc(time.Duration(due-now()), calls.of(due))
			return func() bool { return now() < due }
		}}
	tellsOf(t, "calling nothing off", stage.prove(), " times")
}

func TestATimerThatFiresEarlyIsNoExpiry(t *testing.T) {
	early := func(due int64, call func() int64) { againByAfterFunc(due-2*milli, call) }
	for part, again := range map[string]again{"": againByAfterFunc, "before their deadline": early} {
		stage := &expiry{again, 100, 5 * milli}
		tellsOf(t, "an expiry", stage.prove(), part)
	}
	tellsOf(t, "sleeping", (&expiry{againBySleep, 100, 5 * milli}).prove(), "")
}

func TestATimerThatFiresEarlyIsNoStorm(t *testing.T) {
	early := func(due int64, call func()) { byAfterFunc(due-milli, call) }
	for part, arm := range map[string]armed{"": byAfterFunc, "before its deadline": early} {
		tellsOf(t, "a storm", newStorm(arm, 100).prove(), part)
	}
	if seen := earlyOf(byAfterFunc); seen != "0 of 500 early" {
		t.Error(seen)
	}
	if seen := earlyOf(early); seen == "0 of 500 early" {
		t.Error("no early call was counted where each was")
	}
}
