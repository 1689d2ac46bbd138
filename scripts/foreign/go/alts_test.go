package main

import "testing"

// Every kind and width that a manifest has, by the cases of the source and by those that are made.
func TestWhatASelectTakesIsWhatWasPut(t *testing.T) {
	for _, width := range []int{2, 8, 32, 128} {
		for _, kind := range []string{"one-hot", "all-ready", "none-ready", "mixed"} {
			params := params{Kind: kind, Width: width, Capacity: 1}
			for name, stage := range map[string]stage{"written": altsStage(params), "reflected": reflectedStage(params)} {
				if stage == nil {
					continue
				}
				tellsOf(t, name+" "+kind, stage.prove(), "")
			}
		}
	}
}

// Each port comes about as often as any.
func TestEveryPortIsDrawn(t *testing.T) {
	for _, width := range []int{2, 3, 128} {
		random, seen := draws(1), make([]int, width)
		for turn := 0; turn < 1000*width; turn++ {
			seen[random.below(width)]++
		}
		for port, times := range seen {
			if times < 800 || times > 1200 {
				t.Errorf("port %d of %d was drawn %d times of %d", port, width, times, 1000*width)
			}
		}
	}
}

func TestWhatASelectTookWronglyIsMiscounted(t *testing.T) {
	tellsOf(t, "another port", expected(3, 7, 4, 7), "where 7 was in port 4")
	tellsOf(t, "another value", expected(4, 8, 4, 7), "select took 8")
	tellsOf(t, "what it was", expected(4, 7, 4, 7), "")
	all := newPorts(2, 1, 2)
	tellsOf(t, "another's value", putBack(all, 0, 1), "select took 1 from port 0")
	tellsOf(t, "an invented value", invented(9), "was never put")
}
