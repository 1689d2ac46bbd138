package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

var origin = time.Now()

// now is a moment of the monotonic clock, nanoseconds.
func now() int64 { return int64(time.Since(origin)) }

// usage is what the process has used.
type usage struct{ cpu, voluntary, involuntary int64 }

func used() *usage {
	var seen syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &seen) != nil {
		return nil
	}
	return &usage{seen.Utime.Nano() + seen.Stime.Nano(), seen.Nvcsw, seen.Nivcsw}
}

// since is what was used from then on; nil where the system does not say.
func (u *usage) since(before *usage) *usage {
	if u == nil || before == nil {
		return nil
	}
	return &usage{u.cpu - before.cpu, u.voluntary - before.voluntary, u.involuntary - before.involuntary}
}

// peakBytes is the most memory that the process has had; nil where the system does not say.
func peakBytes() *uint64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil
	}
	for line := range strings.SplitSeq(string(status), "\n") {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "VmHWM:" {
			if kilobytes, err := strconv.ParseUint(words[1], 10, 64); err == nil {
				bytes := kilobytes << 10
				return &bytes
			}
		}
	}
	return nil
}
