// Implementations in Go: channels, select, timers, goroutines.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println(strings.Replace(runtime.Version(), "go", "Go ", 1))
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "--claims" {
		reenact()
		return
	}
	serve()
}

// makeStage has an implementation ready to run a workload; nil where it cannot.
func makeStage(implementation, workload string, params params) stage {
	switch implementation + " " + workload {
	case "go-channel stream":
		return &stream{producers: params.Producers, consumers: params.Consumers, room: params.Buffer.room}
	case "go-channel ping-pong":
		return &pingPong{room: params.Buffer.room}
	case "go-channel open-loop":
		return &openLoop{room: params.Buffer.room, rate: params.Rate}
	case "go-channel uncontended":
		return &solo{batch: uncontended(params.Capacity)}
	case "go-channel alts":
		return altsStage(params)
	case "go-reflect-select alts":
		return reflectedStage(params)
	case "go-channel alts-contended":
		return &altsContended{room: params.Buffer.room}
	case "go-timer timer-churn":
		return newChurn(params.Outstanding)
	case "go-timer timer-lateness":
		return &lateness{again: againByAfterFunc, params: params}
	case "go-timer timer-storm":
		return newStorm(byAfterFunc, params.Timers)
	case "go-timer timer-expiry":
		return &expiry{againByAfterFunc, params.Timers, 1_000 * params.DelayMicros}
	case "go-timer timer-turnover":
		return &turnover{params: params, arm: countedByAfterFunc}
	case "go-sleep timer-lateness":
		return &lateness{again: againBySleep, params: params}
	case "go-sleep timer-storm":
		return newStorm(bySleep, params.Timers)
	case "go-sleep timer-expiry":
		return &expiry{againBySleep, params.Timers, 1_000 * params.DelayMicros}
	case "go-select-timer timer-turnover":
		return &turnover{params: params, arm: countedBySelect}
	case "go-goroutines spawn-join":
		runtime.GOMAXPROCS(params.Threads)
		return &solo{batch: spawnJoin(params.Tasks), operations: params.Tasks}
	}
	return nil
}
