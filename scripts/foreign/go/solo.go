package main

import "sync"

// solo is a workload of one goroutine: a batch of turns, each of which checks its own outcome; nanoseconds an operation.
type solo struct {
	batch func(turns int) error
	// Of a turn; 0 is 1.
	operations int
}

func (s *solo) prove() error {
	return s.batch(max(1, 2_000/max(1, s.operations)))
}

func (s *solo) window(spec spec) (*sample, error) {
	edges := newEdges(spec, 1)
	laps := edges.laps(true)
	edges.begin()
	for {
		turns := laps.chunk
		if err := s.batch(turns); err != nil {
			return nil, err
		}
		if laps.lap(turns * max(1, s.operations)) {
			break
		}
	}
	sample, err := edges.sample(counters(laps))
	if err == nil {
		sample.Value = 1e9 / sample.Value
	}
	return sample, err
}

// uncontended puts a value and takes it.
func uncontended(capacity int) func(int) error {
	channel := make(chan uint64, capacity)
	next := uint64(0)
	return func(turns int) error {
		for ; turns > 0; turns-- {
			channel <- next
			if came := <-channel; came != next {
				return miscounted("%d was put and %d was taken", next, came)
			}
			next++
		}
		return nil
	}
}

// spawnJoin starts so many goroutines that end at once, and waits for the last.
func spawnJoin(tasks int) func(int) error {
	return func(turns int) error {
		for ; turns > 0; turns-- {
			var pending sync.WaitGroup
			pending.Add(tasks)
			for left := tasks; left > 0; left-- {
				go pending.Done()
			}
			pending.Wait()
		}
		return nil
	}
}
