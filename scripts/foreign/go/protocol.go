package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// The line protocol of harness/measure/src/protocol.rs.

// stage is an implementation about to run a scenario.
type stage interface {
	// prove runs the workload untimed, verifying count, order and bounds.
	prove() error
	// window runs one timed window; count and checksum are verified after it.
	window(spec spec) (*sample, error)
}

// failed says why a stage has no number to give: one of the kinds of the protocol, and what was seen.
type failed struct{ kind, message string }

func (f failed) Error() string { return f.message }

func disproved(format string, seen ...any) error {
	return failed{"proof", fmt.Sprintf(format, seen...)}
}

func miscounted(format string, seen ...any) error {
	return failed{"count", fmt.Sprintf(format, seen...)}
}

func nothing(format string, seen ...any) error {
	return failed{"void", fmt.Sprintf(format, seen...)}
}

type request struct {
	Ask            string
	Implementation string
	Scenario       struct {
		Name string
		Work struct {
			Workload string
			Params   params
		}
	}
	RampNanos     int64 `json:"ramp_nanos"`
	Nanos         int64
	SlowedPercent *int `json:"slowed_percent"`
	Seed          uint64
}

// params are those of every workload here, by the names that a scenario's file has.
type params struct {
	Producers, Consumers int
	Buffer               buffer
	Capacity             int
	Rate                 int
	Kind                 string
	Width                int
	Outstanding          int
	Timers               int
	DelayMicros          int64 `json:"delay_micros"`
	PerSecond            int   `json:"per_second"`
	CalledOffPermille    int   `json:"called_off_permille"`
	Delays               string
	ShortestMicros       int64 `json:"shortest_micros"`
	LongestMicros        int64 `json:"longest_micros"`
	Threads, Tasks       int
}

// buffer is room for so many; 0 is a rendezvous.
type buffer struct{ room int }

func (b *buffer) UnmarshalJSON(text []byte) error {
	if string(text) == `"rendezvous"` {
		return nil
	}
	var fixed struct{ Fixed int }
	err := json.Unmarshal(text, &fixed)
	b.room = fixed.Fixed
	return err
}

// spec is a window to be timed, in nanoseconds.
type spec struct {
	ramp, nanos int64
	seed        uint64
	// Not to be counted: as short as was asked for.
	proof bool
}

type sample struct {
	Answer              string   `json:"answer"`
	Value               float64  `json:"value"`
	Operations          uint64   `json:"operations"`
	Nanos               int64    `json:"nanos"`
	CPUNanos            *int64   `json:"cpu_nanos"`
	VoluntarySwitches   *int64   `json:"voluntary_switches"`
	InvoluntarySwitches *int64   `json:"involuntary_switches"`
	Lateness            *late    `json:"lateness,omitempty"`
	Latency             *latency `json:"latency,omitempty"`
	GeneratorP99        *uint64  `json:"generator_p99_nanos,omitempty"`
	Unsustained         *float64 `json:"unsustained,omitempty"`
}

type latency struct {
	Response  [][2]uint64 `json:"response"`
	Service   [][2]uint64 `json:"service"`
	Generator [][2]uint64 `json:"generator"`
}

type late struct {
	Called [][2]uint64 `json:"called"`
	Early  uint64      `json:"early"`
}

func newSample(value float64, operations uint64, nanos int64, used *usage) *sample {
	it := &sample{Answer: "sample", Value: value, Operations: operations, Nanos: nanos}
	if used != nil {
		it.CPUNanos, it.VoluntarySwitches, it.InvoluntarySwitches = &used.cpu, &used.voluntary, &used.involuntary
	}
	return it
}

// serve answers requests. The process ends when its standard input does, whatever it is doing.
func serve() {
	requests := make(chan string)
	go func() {
		input := bufio.NewReader(os.Stdin)
		for {
			line, err := input.ReadString('\n')
			if err != nil {
				os.Exit(0)
			}
			requests <- line
		}
	}()
	output := os.Stdout
	// Only answers go to the engine.
	os.Stdout = os.Stderr
	var ready stage
	for line := range requests {
		answer, err := answer(&ready, line)
		if err != nil {
			told, known := err.(failed)
			if !known {
				told = failed{"panic", err.Error()}
			}
			answer = map[string]string{"answer": "error", "kind": told.kind, "message": told.message}
		}
		text, err := json.Marshal(answer)
		if err != nil {
			text = []byte(`{"answer":"error","kind":"void","message":"its number is none"}`)
		}
		if _, err := output.Write(append(text, '\n')); err != nil {
			os.Exit(2)
		}
	}
}

func answer(ready *stage, line string) (any, error) {
	var request request
	if err := json.Unmarshal([]byte(line), &request); err != nil {
		return nil, failed{"protocol", err.Error()}
	}
	switch request.Ask {
	case "prepare":
		work := request.Scenario.Work
		*ready = makeStage(request.Implementation, work.Workload, work.Params)
		if *ready == nil {
			return nil, failed{"protocol", "it cannot run " + request.Scenario.Name}
		}
		return said("ready"), nil
	case "prove":
		if err := (*ready).prove(); err != nil {
			return nil, err
		}
		return said("proved"), nil
	case "window":
		if request.SlowedPercent != nil {
			return nil, failed{"protocol", "it cannot be slowed on purpose"}
		}
		return (*ready).window(spec{ramp: request.RampNanos, nanos: request.Nanos, seed: request.Seed})
	case "peak-memory":
		return struct {
			Answer string  `json:"answer"`
			Bytes  *uint64 `json:"bytes"`
		}{"peak-memory", peakBytes()}, nil
	case "allocations":
		return said("uncounted"), nil
	}
	return nil, failed{"protocol", "asked " + strings.TrimSpace(line)}
}

func said(word string) map[string]string {
	return map[string]string{"answer": word}
}
