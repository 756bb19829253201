// SPDX-License-Identifier: Apache-2.0

package mark

import (
	"os"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestStoreClaim stores claims in a table: over the own one, to the first free
// place, or over the oldest.
func TestStoreClaim(t *testing.T) {
	for _, c := range []struct {
		name    string
		writers []uint32 // of the claims in the table; 0 is a damaged one
		n       int      // more claims
		want    int      // number of the place
	}{
		{name: "empty", want: 0},
		{name: "own", writers: []uint32{1, 7, 2}, want: 1},
		{name: "at the end", writers: []uint32{1, 2}, want: 2},
		{name: "free", writers: []uint32{1, 0, 2, 0}, want: 1},
		{name: "own behind a free one", writers: []uint32{1, 0, 7}, want: 2},
		{name: "last place", writers: []uint32{3}, n: maxClaims - 2, want: maxClaims - 1},
		{name: "full", writers: []uint32{3, 4}, n: maxClaims - 2, want: 2},
	} {
		m := vfstest.NewMem(time.Now)
		f, err := m.Open("/claims", os.O_RDWR|os.O_CREATE, 0o600)
		must(t, err)
		x := Claims{Boot: 1, file: f}
		for i := range c.n {
			c.writers = append(c.writers, uint32(100+i))
		}
		x.table = make([]byte, len(c.writers)*claimSize)
		for i, writer := range c.writers {
			count := uint64(i + 1)
			if writer < 100 {
				count += 1000
			}
			putClaim(x.table[i*claimSize:], 1, claim{writer: writer, count: count})
		}
		x.writer = 7
		must(t, x.store(claim{epoch: 5}))
		var b [claimSize]byte
		_, err = f.ReadAt(b[:], int64(c.want*claimSize))
		must(t, err)
		got, ok := readClaim(b[:], 1)
		var highest uint64
		for _, old := range x.all {
			highest = max(highest, old.count)
		}
		if !ok || got.writer != 7 || got.epoch != 5 ||
			got.count != highest+1 && highest > 0 || !x.stored {
			t.Errorf("%s: got %+v at place %d, want the claim, higher than %d",
				c.name, got, c.want, highest)
		}
		must(t, f.Close())
	}
}

// TestReadClaim decodes a claim, and others that are not valid.
func TestReadClaim(t *testing.T) {
	want := claim{writer: 1, epoch: 2, id: vfs.ID{Device: 3, Inode: 4}, start: 5, end: 6, count: 7}
	b := make([]byte, claimSize)
	for name, change := range map[string]func(c *claim) (boot uint64){
		"valid":          func(*claim) uint64 { return 8 },
		"another boot":   func(*claim) uint64 { return 9 },
		"without writer": func(c *claim) uint64 { c.writer = 0; return 8 },
	} {
		c := want
		boot := change(&c)
		putClaim(b, boot, c)
		if got, ok := readClaim(b, 8); ok != (name == "valid") || ok && got != want {
			t.Errorf("%s: got %+v, %v", name, got, ok)
		}
	}
	putClaim(b, 8, want)
	b[0]++
	if got, ok := readClaim(b, 8); ok {
		t.Errorf("another version: got %+v", got)
	}
}
