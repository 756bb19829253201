// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"bytes"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/loss"
)

// FuzzBatch writes a batch out in pieces and compares its counts with those of
// the newlines that are out.
func FuzzBatch(f *testing.F) {
	f.Add([]byte{1, 2, 3}, []byte{1, 1, 1, 1, 1, 1})
	f.Add([]byte{200, 0, 7}, []byte{201, 1, 0, 4})
	f.Fuzz(func(t *testing.T, sizes, pieces []byte) {
		b := newBatch(16)
		for _, n := range sizes {
			b.add(&nib.Record{Line: append(bytes.Repeat([]byte{'x'}, int(n)), '\n')})
		}
		var written level.Traffic
		all, lines, complete := len(sizes), uint64(0), uint64(0)
		for _, n := range pieces {
			b.advance(min(int(n), len(b.rest())), &written)
			lines, complete = written.Total()
			out := b.data[:b.sent]
			wantLines, wantBytes := bytes.Count(out, []byte{'\n'}), bytes.LastIndexByte(out, '\n')+1
			if lines != uint64(wantLines) || complete != uint64(wantBytes) {
				t.Fatalf("after %d bytes: got %d lines of %d bytes, want %d of %d", b.sent, lines, complete, wantLines, wantBytes)
			}
			if got, want := b.begun(), len(out) > wantBytes; got != want {
				t.Fatalf("after %d bytes: got begun %v, want %v", b.sent, got, want)
			}
		}
		var dropped loss.Levels
		b.drop(&dropped)
		if got := lines + dropped[level.Row(int(nib.LevelInfo))]; got != uint64(all) {
			t.Fatalf("got %d lines in all, want %d", got, all)
		}
	})
}
