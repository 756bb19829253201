// SPDX-License-Identifier: Apache-2.0

package heapcalls_test

import (
	"testing"

	"github.com/nib-log/nib/allocs/internal/heapcalls"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		symbol string
		kind   heapcalls.Kind
		rule   heapcalls.Rule
		ok     bool
	}{
		{"runtime.newobject", heapcalls.Object, heapcalls.Each, true},
		{"runtime.mallocgcSmallScanNoHeaderSC4", heapcalls.Object, heapcalls.Each, true}, // Go 1.27
		{"runtime.convT64", heapcalls.BoxSmall, heapcalls.Sized, true},
		{"runtime.growslice", heapcalls.Grow, heapcalls.Growth, true},
		{"runtime.moveSliceNoCapNoScan", heapcalls.Move, heapcalls.Sized, true}, // Go 1.26
		{"runtime.mapassign_faststr", heapcalls.MapGrow, heapcalls.Growth, true},
		{"runtime.concatstring2", heapcalls.Concat, heapcalls.Sized, true},
		{"internal/bytealg.MakeNoZero", heapcalls.Make, heapcalls.Each, true},
		{"runtime.gostring", heapcalls.ToString, heapcalls.Each, true}, // C.GoString
		{"runtime.gobytes", heapcalls.ToBytes, heapcalls.Each, true},   // C.GoBytes
		{"runtime.gcWriteBarrier2", "", 0, false},
		{"example.com/runtime.newobject", "", 0, false},
	} {
		kind, rule, ok := heapcalls.Of(c.symbol)
		if kind != c.kind || rule != c.rule || ok != c.ok {
			t.Errorf("%s: got %q %d %v, want %q %d %v", c.symbol, kind, rule, ok, c.kind, c.rule, c.ok)
		}
	}
}

func TestOpaque(t *testing.T) {
	for symbol, want := range map[string]bool{
		"runtime.chanrecv1":              true,
		"runtime.Caller":                 false,
		"runtime.(*Frames).Next":         false,
		"runtime.(*mcache).refill":       true,
		"internal/runtime/maps.newTable": true,
		"example.com/internal/runtime.F": false,
		"strconv.Itoa":                   false,
	} {
		if got := heapcalls.Opaque(symbol); got != want {
			t.Errorf("%s: got %v, want %v", symbol, got, want)
		}
	}
}
