package main

import (
	"math/bits"
	"sort"
	"sync"
)

// subBuckets of each power of two: values are told to a thousandth.
const subBuckets = 1 << 10

// histogram is of nanoseconds, log-linear; several goroutines record into it.
type histogram struct {
	lock    sync.Mutex
	buckets map[uint64]uint64
	count   uint64
}

func (h *histogram) record(value uint64) {
	// What a bucket has in common: all but the lowest bits.
	shift := max(0, bits.Len64(value)-bits.Len64(subBuckets-1))
	lowest := value >> shift << shift
	h.lock.Lock()
	if h.buckets == nil {
		h.buckets = map[uint64]uint64{}
	}
	h.buckets[lowest]++
	h.count++
	h.lock.Unlock()
}

// pairs are the buckets in order: a value and how often it came.
func (h *histogram) pairs() [][2]uint64 {
	all := make([][2]uint64, 0, len(h.buckets))
	for value, count := range h.buckets {
		all = append(all, [2]uint64{value, count})
	}
	sort.Slice(all, func(a, b int) bool { return all[a][0] < all[b][0] })
	return all
}

// percentile of what was recorded, in percent.
func (h *histogram) percentile(percent float64) uint64 {
	below := uint64(float64(h.count) * percent / 100)
	seen := uint64(0)
	value := uint64(0)
	for _, bucket := range h.pairs() {
		value = bucket[0]
		if seen += bucket[1]; seen > below {
			break
		}
	}
	return value
}
