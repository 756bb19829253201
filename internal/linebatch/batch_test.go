// SPDX-License-Identifier: Apache-2.0

package linebatch

import (
	"bytes"
	"testing"

	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/loss"
)

// FuzzBatchInPieces writes a batch in pieces and compares its counts with the
// newlines written.
func FuzzBatchInPieces(f *testing.F) {
	f.Add([]byte{1, 2, 3}, []byte{1, 1, 1, 1, 1, 1})
	f.Add([]byte{200, 0, 7}, []byte{201, 1, 0, 4})
	f.Fuzz(func(t *testing.T, sizes, pieces []byte) {
		b := New(16)
		for _, n := range sizes {
			b.Add(append(bytes.Repeat([]byte{'x'}, int(n)), '\n'), 0)
		}
		var written level.Traffic
		all, lines, complete := len(sizes), uint64(0), uint64(0)
		for _, n := range pieces {
			b.Advance(min(int(n), len(b.Rest())), &written)
			lines, complete = written.Total()
			out := b.data[:b.sent]
			wantLines, wantBytes := bytes.Count(out, []byte{'\n'}), bytes.LastIndexByte(out, '\n')+1
			if lines != uint64(wantLines) || complete != uint64(wantBytes) {
				t.Fatalf("after %d bytes: got %d lines of %d bytes, want %d of %d", b.sent, lines, complete, wantLines, wantBytes)
			}
			if got, want := b.IsTorn(), len(out) > wantBytes; got != want {
				t.Fatalf("after %d bytes: got torn %v, want %v", b.sent, got, want)
			}
		}
		var dropped loss.Levels
		b.Drop(&dropped)
		if got := lines + dropped[level.Row(0)]; got != uint64(all) {
			t.Fatalf("got %d lines in all, want %d", got, all)
		}
	})
}

// FuzzBatchInChunks writes a batch in pieces, with room for each, and compares
// its counts with the newlines written.
func FuzzBatchInChunks(f *testing.F) {
	f.Add([]byte{1, 2, 3}, []byte{1, 1, 1, 1, 1, 1})
	f.Add([]byte{200, 9, 7}, []byte{201, 1, 0, 4})
	f.Fuzz(func(t *testing.T, sizes, rooms []byte) {
		b := NewWithoutNewline(16)
		for _, n := range sizes {
			b.Add(append(bytes.Repeat([]byte{'x'}, int(n)+1), '\n'), 0)
		}
		var written level.Traffic
		lines, complete := uint64(0), uint64(0)
		for _, room := range rooms {
			if b.Lines() == 0 {
				break
			}
			next := b.Next()
			chunk := b.UpTo(int64(room))
			n := len(chunk)
			switch {
			case n < next || chunk[n-1] != '\n':
				t.Fatalf("room for %d: got %d bytes, want whole lines, the first has %d", room, n, next)
			case n > next && n > int(room):
				t.Fatalf("room for %d: got %d bytes", room, n)
			case n <= int(room) && len(b.data) > b.sent+n && b.ends[b.done+bytes.Count(chunk, []byte{'\n'})].at-b.sent <= int(room):
				t.Fatalf("room for %d: got %d bytes, one more line would fit", room, n)
			}
			b.Advance(n, &written)
			lines, complete = written.Total()
		}
		out := b.data[:b.sent]
		if lines != uint64(bytes.Count(out, []byte{'\n'})) || complete != uint64(len(out)) {
			t.Fatalf("got %d lines of %d bytes for %d bytes", lines, complete, len(out))
		}
		var dropped loss.Levels
		b.Drop(&dropped)
		if got := lines + dropped[level.Row(0)]; got != uint64(len(sizes)) {
			t.Fatalf("got %d lines in all, want %d", got, len(sizes))
		}
	})
}
