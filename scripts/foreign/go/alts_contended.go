package main

// altsContended has two producers feed a channel each, and one consumer wait on both.
type altsContended struct{ room int }

func (a *altsContended) prove() error {
	if err := overfull(a.room); err != nil {
		return err
	}
	// A select invokes a take on every port at once, so puts and takes do not bound one port.
	puts, takes := watches(2, func() *watch { return recorded(proofValues/2, nil) }),
		watches(1, func() *watch { return recorded(never, nil) })
	if err := a.run(nil, puts, takes[0]); err != nil {
		return err
	}
	return exact(puts, takes)
}

func (a *altsContended) window(spec spec) (*sample, error) {
	edges := newEdges(spec, 1)
	puts, takes := watches(2, func() *watch { return timed(edges.laps(false)) }),
		watches(1, func() *watch { return timed(edges.laps(true)) })
	if err := a.run(edges, puts, takes[0]); err != nil {
		return nil, err
	}
	return settled(edges, puts, takes)
}

func (a *altsContended) run(edges *edges, puts []*watch, take *watch) error {
	p := newPorts(len(puts), a.room, 0)
	jobs := []func() error{func() error { consumeOf(p, take); return nil }}
	for producer, watch := range puts {
		jobs = append(jobs, func() error {
			produce(p[producer], stampOf(producer), watch)
			p[producer] <- sentinel
			return nil
		})
	}
	return together(edges, jobs)
}

// consumeOf takes from whichever port has something, until each has given its sentinel.
func consumeOf(p ports, watch *watch) {
	open := len(p)
	for {
		chunk := watch.chunk()
		taken := 0
		for range chunk {
			_, value := takenOfTwo(p)
			if value != sentinel {
				watch.note(value)
				taken++
			} else if open--; open == 0 {
				watch.lap(taken)
				return
			}
		}
		watch.lap(taken)
	}
}
