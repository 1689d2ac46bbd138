package main

// pingPong sends one value to another goroutine and back, over two channels. The side that serves counts, and checks each
// answer.
type pingPong struct{ room int }

func (p *pingPong) prove() error {
	if err := overfull(p.room); err != nil {
		return err
	}
	return p.run(nil, recorded(500, nil))
}

func (p *pingPong) window(spec spec) (*sample, error) {
	edges := newEdges(spec, 1)
	watch := timed(edges.laps(true))
	if err := p.run(edges, watch); err != nil {
		return nil, err
	}
	return edges.sample(counters(watch.laps))
}

func (p *pingPong) run(edges *edges, watch *watch) error {
	to, back := make(chan uint64, p.room), make(chan uint64, p.room)
	return together(edges, []func() error{
		func() error {
			for ball := range to {
				back <- ball
			}
			return nil
		},
		func() error {
			defer close(to)
			for ball := uint64(0); ; {
				chunk := watch.chunk()
				for left := chunk; left > 0; left-- {
					to <- ball
					if came := <-back; came != ball {
						return miscounted("%d was sent and %d came back", ball, came)
					}
					watch.note(ball)
					ball++
				}
				if watch.lap(chunk) {
					return nil
				}
			}
		},
	})
}
