package main

import (
	"slices"
	"sync/atomic"
)

// sentinel ends a consumer; no value has it.
const sentinel = ^uint64(0)

// sequenceBits of a stamp count; the producer stands above them.
const sequenceBits = 48

func stampOf(producer int) uint64 { return uint64(producer) << sequenceBits }

// watch is what a goroutine of a stream is watched by: in a window sums, in a proof every single value.
type watch struct {
	count, sum uint64
	laps       *laps
	bound      *bound
	turns      int
	stamps     []uint64
	isProof    bool
}

func timed(laps *laps) *watch { return &watch{laps: laps} }

func recorded(turns int, bound *bound) *watch {
	return &watch{isProof: true, turns: turns, bound: bound}
}

func (w *watch) chunk() int {
	if w.isProof {
		return 1
	}
	return w.laps.chunk
}

func (w *watch) hasPut(stamp uint64) {
	if w.bound != nil {
		w.bound.hasPut()
	}
	w.note(stamp)
}

func (w *watch) willTake() {
	if w.bound != nil {
		w.bound.held.Add(-1)
	}
}

func (w *watch) note(stamp uint64) {
	w.count++
	w.sum += stamp
	if w.isProof {
		w.stamps = append(w.stamps, stamp)
	}
}

// lap ends a chunk of so many operations; whether it is over.
func (w *watch) lap(operations int) bool {
	if w.isProof {
		return len(w.stamps) >= w.turns
	}
	return w.laps.lap(operations)
}

// bound watches that a channel never holds more than its capacity: puts that returned, less takes that were invoked.
type bound struct{ capacity, held, most atomic.Int64 }

func newBound(capacity int) *bound {
	it := &bound{}
	it.capacity.Store(int64(capacity))
	return it
}

func (b *bound) hasPut() {
	held := b.held.Add(1)
	for most := b.most.Load(); held > most; most = b.most.Load() {
		if b.most.CompareAndSwap(most, held) {
			return
		}
	}
}

func (b *bound) kept() error {
	if most, capacity := b.most.Load(), b.capacity.Load(); most > capacity {
		return disproved("it held %d values, and its capacity is %d", most, capacity)
	}
	return nil
}

// agree says whether what was put is what was taken.
func agree(put, taken []*watch) error {
	var counts, sums [2]uint64
	for side, watches := range [][]*watch{put, taken} {
		for _, watch := range watches {
			counts[side] += watch.count
			sums[side] += watch.sum
		}
	}
	if counts[0] != counts[1] {
		return miscounted("%d values were put and %d were taken", counts[0], counts[1])
	}
	if sums[0] != sums[1] {
		return miscounted("%d values were put and as many taken, but not the same ones (checksums differ)", counts[0])
	}
	return nil
}

// exact says whether each put value was taken once, and each consumer saw each producer's values in their order.
func exact(put, taken []*watch) error {
	for _, watch := range taken {
		last := map[uint64]uint64{}
		for _, stamp := range watch.stamps {
			before, seen := last[stamp>>sequenceBits]
			if seen && before >= stamp {
				return disproved("value %x was taken after value %x of the same producer", stamp, before)
			}
			last[stamp>>sequenceBits] = stamp
		}
	}
	all, came := sorted(put), sorted(taken)
	if len(all) != len(came) {
		return disproved("%d values were put and %d were taken", len(all), len(came))
	}
	for place := range all {
		if all[place] != came[place] {
			return disproved("value %x was put, and %x was taken in its place", all[place], came[place])
		}
	}
	return nil
}

func sorted(watches []*watch) []uint64 {
	var all []uint64
	for _, watch := range watches {
		all = append(all, watch.stamps...)
	}
	slices.Sort(all)
	return all
}
