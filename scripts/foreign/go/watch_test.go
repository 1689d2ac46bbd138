package main

import (
	"strings"
	"testing"
)

// seen is a watch that saw these.
func seen(stamps ...uint64) *watch {
	watch := recorded(0, nil)
	for _, stamp := range stamps {
		watch.note(stamp)
	}
	return watch
}

func TestWhatIsLostRepeatedInventedOrOutOfOrderIsNoProof(t *testing.T) {
	put := []*watch{seen(0, 1, 2), seen(stampOf(1), stampOf(1)+1)}
	for name, taken := range map[string][]*watch{
		"lost":     {seen(0, 1, stampOf(1)), seen(stampOf(1) + 1)},
		"repeated": {seen(0, 1, 2, stampOf(1)), seen(2, stampOf(1)+1)},
		"invented": {seen(0, 1, 2, 3, stampOf(1)), seen(stampOf(1) + 1)},
		"replaced": {seen(0, 1, 3, stampOf(1)), seen(stampOf(1) + 1)},
		"reversed": {seen(0, 2, 1, stampOf(1)), seen(stampOf(1) + 1)},
	} {
		if err := exact(put, taken); err == nil {
			t.Errorf("%s: nothing was noticed", name)
		}
	}
	if err := exact(put, []*watch{seen(0, stampOf(1), 2), seen(1, stampOf(1)+1)}); err != nil {
		t.Error(err)
	}
}

func TestBooksThatDoNotAgreeAreNoWindow(t *testing.T) {
	put := []*watch{seen(1, 2, 3)}
	for part, taken := range map[string]*watch{
		"2 were taken":     seen(1, 2),
		"checksums differ": seen(1, 2, 4),
	} {
		if err := agree(put, []*watch{taken}); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", part, err)
		}
	}
	if err := agree(put, []*watch{seen(3, 1), seen(2)}); err != nil {
		t.Error(err)
	}
}

func TestMoreThanTheCapacityIsNoProof(t *testing.T) {
	bound := newBound(2)
	for range []int{1, 2} {
		bound.hasPut()
	}
	if err := bound.kept(); err != nil {
		t.Error(err)
	}
	bound.hasPut()
	if bound.kept() == nil {
		t.Error("three in room for two")
	}
}

func TestBucketsHoldWhatWasRecordedToAThousandth(t *testing.T) {
	var h histogram
	for _, value := range []uint64{0, 1, 1_000, 1_023, 1_025, 123_456_789, 60_000_000_000} {
		h.record(value)
		buckets := histogram{buckets: map[uint64]uint64{}}
		buckets.record(value)
		told := buckets.pairs()[0][0]
		if told > value || value-told > value/1_000 {
			t.Errorf("%d is told as %d", value, told)
		}
	}
	if h.count != 7 || h.percentile(50) > 1_023 || h.percentile(99) < 59_000_000_000 {
		t.Errorf("%v", h.pairs())
	}
}
