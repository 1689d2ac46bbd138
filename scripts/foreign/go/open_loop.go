package main

// openLoop has a generator send at moments fixed in advance, whether or not the channel keeps up, and a consumer note how
// late each message comes; the value is the 99th percentile from the intended moment. A message is the moment at which it
// was really sent; which it is the consumer knows by counting, for there is one of each.
type openLoop struct{ room, rate int }

const (
	sustained  = 0.99
	lastLetter = int64(-1)
)

func (o *openLoop) prove() error {
	return (&stream{producers: 1, consumers: 1, room: o.room}).prove()
}

// run is one window's.
type run struct {
	channel                      chan int64
	rate                         int64
	edges                        *edges
	counter                      *laps
	response, service, late, own histogram
	put, taken                   watch
	// The least response of the window's first tenth and of its last: a queue that only grows shows there.
	leastEarly, leastLate int64
	gaveUp                bool
}

// interval is when the window began, its two edges, and the moment of a message.
func (r *run) interval() (first, last int64, moment func(int64) int64) {
	begins := r.edges.begins.Load()
	for begins == never {
		begins = r.edges.begins.Load()
	}
	first = begins + r.edges.spec.ramp
	return first, first + r.edges.spec.nanos, func(sequence int64) int64 { return begins + sequence*1_000_000_000/r.rate }
}

func (r *run) generate() error {
	first, last, moment := r.interval()
	free := int64(0)
	for sequence := int64(0); ; sequence++ {
		intended := moment(sequence)
		// What was due in the window is sent, however late: leaving out the late ones would be kind.
		if intended >= last && (r.edges.counting.Load() == 0 || now() >= last+grace) {
			break
		}
		if free > last+r.edges.spec.nanos {
			r.gaveUp = true
			break
		}
		sent := now()
		for sent < intended {
			sent = now()
		}
		r.channel <- sent
		r.put.note(uint64(sent))
		if intended >= first && intended < last {
			r.late.record(uint64(sent - intended))
			r.own.record(uint64(sent - max(intended, min(free, sent))))
		}
		free = now()
	}
	r.channel <- lastLetter
	return nil
}

func (r *run) consume() error {
	first, last, moment := r.interval()
	tenth := (last - first) / 10
	for sequence := int64(0); ; {
		chunk := r.counter.chunk
		for turn := range chunk {
			sent := <-r.channel
			if sent == lastLetter {
				r.counter.lap(turn)
				return nil
			}
			came := now()
			r.taken.note(uint64(sent))
			intended := moment(sequence)
			sequence++
			if intended < first || intended >= last {
				continue
			}
			r.response.record(uint64(came - intended))
			r.service.record(uint64(came - sent))
			if intended < first+tenth {
				r.leastEarly = min(r.leastEarly, came-intended)
			} else if intended >= last-tenth {
				r.leastLate = min(r.leastLate, came-intended)
			}
		}
		// The generator decides when it is over.
		r.counter.lap(chunk)
	}
}

func (o *openLoop) window(spec spec) (*sample, error) {
	// Long enough for ten samples above the 99th percentile.
	spec.nanos = max(spec.nanos, 1_000_000_000_000/int64(o.rate))
	edges := newEdges(spec, 1)
	r := &run{channel: make(chan int64, o.room), rate: int64(o.rate), edges: edges, counter: edges.laps(true),
		leastEarly: never, leastLate: never}
	if err := together(edges, []func() error{r.consume, r.generate}); err != nil {
		return nil, err
	}
	if err := agree([]*watch{&r.put}, []*watch{&r.taken}); err != nil {
		return nil, err
	}
	if r.gaveUp {
		return nil, nothing("it did not sustain %d messages/s, and the generator gave up", o.rate)
	}
	if r.leastEarly == never || r.leastLate == never {
		return nil, nothing("the window is too short for %d messages/s", o.rate)
	}
	counted, err := edges.sample(counters(r.counter))
	if err != nil {
		return nil, err
	}
	apart := float64(spec.nanos) * 0.9
	achieved := apart / (apart + float64(max(0, r.leastLate-r.leastEarly)))
	// Most of the CPU time is the generator's, which spins.
	sample := newSample(float64(r.response.percentile(99)), counted.Operations, counted.Nanos, nil)
	own := r.own.percentile(99)
	sample.GeneratorP99 = &own
	sample.Latency = &latency{r.response.pairs(), r.service.pairs(), r.late.pairs()}
	if achieved < sustained {
		missed := 1 - achieved
		sample.Unsustained = &missed
	}
	return sample, nil
}
