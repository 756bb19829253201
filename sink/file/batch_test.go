// SPDX-License-Identifier: Apache-2.0

package file

import (
	"bytes"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// FuzzBatch writes a batch out in pieces, with room for each, and compares what
// it says with the newlines that are out.
func FuzzBatch(f *testing.F) {
	f.Add([]byte{1, 2, 3}, []byte{1, 1, 1, 1, 1, 1})
	f.Add([]byte{200, 9, 7}, []byte{201, 1, 0, 4})
	f.Fuzz(func(t *testing.T, sizes, rooms []byte) {
		b := newBatch(16)
		for _, n := range sizes {
			b.add(&nib.Record{Line: append(bytes.Repeat([]byte{'x'}, int(n)+1), '\n')})
		}
		var written level.Traffic
		lines, complete := uint64(0), uint64(0)
		for _, room := range rooms {
			if b.lines() == 0 {
				break
			}
			next := b.next()
			chunk := b.upTo(int64(room))
			n := len(chunk)
			switch {
			case n < next || chunk[n-1] != '\n':
				t.Fatalf("room for %d: got %d bytes, want whole lines, the first has %d", room, n, next)
			case n > next && n > int(room):
				t.Fatalf("room for %d: got %d bytes", room, n)
			case n <= int(room) && len(b.data) > b.sent+n && b.ends[b.done+bytes.Count(chunk, []byte{'\n'})].at-b.sent <= int(room):
				t.Fatalf("room for %d: got %d bytes, one more line would fit", room, n)
			}
			b.advance(n, &written)
			lines, complete = written.Total()
		}
		out := b.data[:b.sent]
		if lines != uint64(bytes.Count(out, []byte{'\n'})) || complete != uint64(len(out)) {
			t.Fatalf("got %d lines of %d bytes for %d bytes", lines, complete, len(out))
		}
		var dropped loss.Levels
		b.drop(&dropped)
		if got := lines + dropped[level.Row(int(nib.LevelInfo))]; got != uint64(len(sizes)) {
			t.Fatalf("got %d lines in all, want %d", got, len(sizes))
		}
	})
}

// TestBatchThatFillsFiles needs one write for each.
func TestBatchThatFillsFiles(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{MaxSize: 1000, Buffer: 10_000, Delay: never})
	writes := 0
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Reached: func() { writes++ }})
	for n := range 95 {
		mustWrite(t, s, record(nib.LevelInfo, n, 100))
	}
	must(t, s.Close())
	checkNumbers(t, memAll(t, m), 95)
	if got := len(memFiles(t, m)); got != 10 || writes != 10 {
		t.Errorf("got %d writes for %d files, want 10", writes, got)
	}
}
