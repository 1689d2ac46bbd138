package main

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	codeRead        = "000_ffaacfc00d4fcfbd.txt"
	timeoutChannels = "001_d22df209ee62fd6d.txt"
)

func timeoutClaims() []claim {
	return append(
		ofText(codeRead, "go-timer", []claim{
			{says: "a go block takes from (timeout 1000), then puts", see: hello},
			{says: "1,000 timeouts all 500 ms from now", see: distinct},
		}),
		ofText(timeoutChannels, "go-timer", []claim{
			{says: "a response takes longer than 300 ms, in an alts with (timeout 300)", see: answer300(400)},
			{says: "a response comes faster than 300 ms", see: answer300(200)},
			{says: "the late response finds its channel closed", see: lateResponse},
			{says: "(timeout Long/MAX_VALUE)", see: longest},
		})...)
}

func hello() (string, string) {
	c := make(chan string)
	began := now()
	go func() {
		<-time.After(time.Second)
		c <- "hello from the future!"
	}()
	came := <-c
	return fmt.Sprintf("%q after %d ms", came, halves(began)), figure(now() - began)
}

func distinct() (string, string) {
	channels := map[<-chan time.Time]bool{}
	for left := 1_000; left > 0; left-- {
		channels[time.After(500*time.Millisecond)] = true
	}
	return fmt.Sprintf("%d channels", len(channels)), "each timeout is its caller's alone"
}

// answer300 is what a select answers of a response that takes so long and of a timeout of 300 ms.
func answer300(millis int64) func() (string, string) {
	return func() (string, string) {
		c := make(chan string, 1)
		began := now()
		time.AfterFunc(time.Duration(millis*milli), func() { c <- "the value" })
		said := ":timeout"
		select {
		case said = <-c:
		case <-time.After(300 * time.Millisecond):
		}
		took := now() - began
		return fmt.Sprintf("%s after %d ms", said, tenths(took)), figure(took)
	}
}

func lateResponse() (seen, note string) {
	c := make(chan string)
	close(c)
	defer func() {
		if why := recover(); why != nil {
			seen, note = "the put panics", fmt.Sprintf("%v: in Go only who puts may close", why)
		}
	}()
	c <- "late"
	return "the put is accepted", ""
}

func longest() (string, string) {
	select {
	case <-time.After(math.MaxInt64):
		return "it closes", ""
	case <-time.After(time.Second):
		return "it never closes", "what overflows is cut to the last moment there is; looked at for 1 s"
	}
}

const manyTimeouts = 500

// earlyClaims are those that count what fires before its deadline.
func earlyClaims() []claim {
	t1 := func(who string, arm armed) claim {
		return claim{
			statement: "T1",
			expected:  fmt.Sprintf("0 of %d early", manyTimeouts),
			says:      fmt.Sprintf("%d timeouts of 5 to 54 ms, one after the other", manyTimeouts),
			who:       who,
			see:       plainly(func() string { return earlyOf(arm) }),
		}
	}
	return []claim{t1("go-timer", byAfterFunc), t1("go-sleep", bySleep), {
		statement: "A4",
		expected:  "it waits for another partner",
		says:      "(alts!! [[c 1] c]) on a channel without a buffer",
		who:       "go-channel",
		see:       plainly(ofItself),
	}}
}

func earlyOf(arm armed) string {
	var early atomic.Int64
	var all sync.WaitGroup
	for place := range int64(manyTimeouts) {
		due := now() + (5+place%50)*milli
		all.Add(1)
		arm(due, func() {
			if now() < due {
				early.Add(1)
			}
			all.Done()
		})
		time.Sleep(700 * time.Microsecond)
	}
	all.Wait()
	return fmt.Sprintf("%d of %d early", early.Load(), manyTimeouts)
}

func ofItself() string {
	c := make(chan int)
	select {
	case c <- 1:
	case <-c:
	case <-time.After(time.Second):
		return "it waits for another partner"
	}
	return "it answers itself"
}

// threadClaims are those about the threads that goroutines run on. One of them lets the others have one core.
func threadClaims() []claim {
	return ofText(codeRead, "go-goroutines", []claim{
		{says: "go blocks that block the pool's threads starve the others", see: blocking},
		{says: "a go block that waits for a timeout holds up no thread", see: whileOneWaits},
	})
}

// blocking has 64 goroutines block their threads in the system, and says whether all begin.
func blocking() (string, string) {
	const blocked = 64
	var begun atomic.Int64
	var all sync.WaitGroup
	all.Add(blocked)
	for left := blocked; left > 0; left-- {
		go func() {
			defer all.Done()
			begun.Add(1)
			_ = syscall.Nanosleep(&syscall.Timespec{Sec: 2}, nil)
		}()
	}
	time.Sleep(time.Second)
	seen := begun.Load()
	all.Wait()
	if seen < blocked {
		return "the next go block never begins", ""
	}
	return "all begin", fmt.Sprintf("%d that sleep in the system, on a machine of %d cores: each gives its place in the "+
		"pool to another thread", blocked, runtime.NumCPU())
}

func whileOneWaits() (string, string) {
	runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(runtime.NumCPU())
	waiting, ran := make(chan struct{}), make(chan int64)
	began := now()
	go func() {
		close(waiting)
		<-time.After(time.Second)
	}()
	<-waiting
	go func() { ran <- halves(began) }()
	return fmt.Sprintf("its thread runs another go block after %d ms", <-ran), "one thread runs goroutines meanwhile"
}
