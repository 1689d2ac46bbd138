package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// What the seed texts state, re-enacted by Go in real time: a line for each claim as it is done. Those are here whose words
// have a counterpart: goroutines for go blocks, select for alts, timers for timeouts.

// claim is one of a text, in its words, or a statement of SEMANTICS.md with what is seen where that holds.
type claim struct {
	seed, statement, expected string
	says, who                 string
	// What was seen, in the words of the text's row, and the figure as measured.
	see func() (string, string)
}

// ofText are claims of a text.
func ofText(seed, who string, acts []claim) []claim {
	for place := range acts {
		acts[place].seed, acts[place].who = seed, who
	}
	return acts
}

// claimPatience is thrice what the longest of them takes.
const claimPatience = 40 * time.Second

func reenact() {
	go endWithInput()
	// What only waits goes side by side; what counts early calls, or has the machine to itself, comes last.
	sideBySide := append(append(timeoutClaims(), selectClaims()...), earlyClaims()...)
	var telling sync.Mutex
	var all sync.WaitGroup
	for _, one := range sideBySide {
		all.Go(func() {
			tell(&telling, one)
		})
	}
	all.Wait()
	for _, one := range threadClaims() {
		tell(&telling, one)
	}
}

// endWithInput ends the process with its standard input, to which nothing is ever written.
func endWithInput() {
	_, _ = os.Stdin.Read(make([]byte, 1))
	os.Exit(2)
}

func tell(telling *sync.Mutex, one claim) {
	seen := make(chan [2]string, 1)
	go func() {
		defer func() {
			if why := recover(); why != nil {
				seen <- [2]string{fmt.Sprint(why), ""}
			}
		}()
		words, note := one.see()
		seen <- [2]string{words, note}
	}()
	told := [2]string{"nothing for 40 s", ""}
	select {
	case told = <-seen:
	case <-time.After(claimPatience):
	}
	line := map[string]string{"claim": one.says, "implementation": one.who, "seen": told[0]}
	for name, value := range map[string]string{
		"seed": one.seed, "statement": one.statement, "expected": one.expected, "note": told[1],
	} {
		if value != "" {
			line[name] = value
		}
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(line)
	telling.Lock()
	defer telling.Unlock()
	fmt.Print(text.String())
}

// plainly is what was seen without a figure beside.
func plainly(see func() string) func() (string, string) {
	return func() (string, string) { return see(), "" }
}

// halves are milliseconds, in half seconds that have passed: the texts speak of whole ones, and a sleep ends late.
func halves(began int64) int64 { return (now() - began) / 500_000_000 * 500 }

// tenths are milliseconds, to the tenth of a second, where a text speaks of those.
func tenths(nanos int64) int64 { return (nanos + 50_000_000) / 100_000_000 * 100 }

func figure(nanos int64) string {
	return fmt.Sprintf("%.1f ms in real time", float64(nanos)/1e6)
}
