// SPDX-License-Identifier: Apache-2.0

//go:build linux

package kills

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink/spool"
)

// mapped is the maximum size of the segments that a spool has in memory
// (docs/spool.md); their number varies.
const mapped = 9 * 8 << 20

// Nowhere is the address of a server that is down.
const Nowhere = "http://127.0.0.1:1"

// Memory logs through a spool to a destination that is down, until the spool is
// almost full, and checks that neither the heap nor the resident size of the
// process grows with the number of waiting lines. With NIB_E2E=full the spool
// has 512 MiB, otherwise 256.
func Memory(t *testing.T, d delivery.Destination) {
	t.Helper()
	size := int64(256 << 20)
	if os.Getenv("NIB_E2E") == "full" {
		size = 512 << 20
	}
	s, err := spool.Open(t.TempDir(), d, spool.Config{
		Size: size, Sync: spool.SyncNever, Drain: time.Millisecond, OnFull: patient,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	log := nib.NewSink(s)
	n := 0
	fill := func(lines int) sizes {
		for ; n < lines; n++ {
			log.Info().Str("customer", "c-17").Int("n", n).Msg("order accepted")
		}
		return memory(t)
	}
	all := int(size / 250) // a line of 125 bytes takes less
	before := fill(all / 4)
	after := fill(all)
	t.Logf("%d lines wait: heap %d KiB, resident %d KiB; %d lines: heap %d KiB, resident %d KiB",
		all/4, before.heap>>10, before.resident>>10, all, after.heap>>10, after.resident>>10)
	if st := s.Stats(); st.Pending != uint64(all) || st.Lost() > 0 {
		t.Errorf("%d of %d lines wait, %d are lost", st.Pending, all, st.Lost())
	}
	if after.heap > before.heap+4<<20 || after.resident > before.resident+mapped {
		t.Errorf(
			"with a spool of %d MiB, the heap has grown by %d KiB, the resident size by %d KiB",
			size>>20, (after.heap-before.heap)>>10, (after.resident-before.resident)>>10)
	}
}

// sizes are the sizes of the process's memory, in bytes.
type sizes struct{ heap, resident int64 }

// memory returns the sizes after a collection.
func memory(t *testing.T) sizes {
	t.Helper()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kib); n == 1 {
			return sizes{int64(m.HeapAlloc), kib << 10}
		}
	}
	t.Skip("the system does not state the resident size")
	return sizes{}
}
