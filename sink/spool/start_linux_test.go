// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// backlog leaves lines of about the given bytes in a spool, like a process that
// is killed.
func backlog(t testing.TB, dir string, bytes int64) (lines int) {
	t.Helper()
	s, err := Open(dir, nil, Config{Size: 2 * bytes, MinFree: 1, Sync: SyncNever, OnFull: []FullRule{{nib.LevelTrace, ActionBlock, time.Minute}}})
	must(t, err)
	r := record(nib.LevelInfo, 1, 200)
	for n := int64(0); n < bytes; n += int64(segment.Align(segment.RecordHead + len(r.Line))) {
		must(t, s.WriteRecord(r))
		lines++
	}
	must(t, s.Close())
	return lines
}

// TestE2EStart opens a spool with many lines and logs the first one. It
// prints how long that takes, and the rate at which the others are read.
func TestE2EStart(t *testing.T) {
	size, starts := int64(seed.Times(1<<30, 16<<20, 16<<20)), seed.Times(20, 5, 5)
	dir := spoolDir(t)
	lines := backlog(t, dir, size)
	var took []time.Duration
	for range starts {
		begin := time.Now()
		s, err := Open(dir, nil, Config{Size: 4 * size, MinFree: 1})
		must(t, err, s.WriteRecord(record(nib.LevelInfo, 1, 200)))
		took = append(took, time.Since(begin))
		must(t, s.Close())
	}
	slices.Sort(took)
	begin := time.Now()
	s, err := Open(dir, sinkhole{}, Config{Size: 4 * size, MinFree: 1})
	must(t, err, s.Flush(context.Background()))
	read := time.Since(begin)
	must(t, s.Close())
	if st := checkIdentity(t, s); st.Delivered < uint64(lines) || st.Lost() > 0 {
		t.Errorf("got %+v, want %d lines", st, lines)
	}
	t.Logf("%d MiB of %d lines: the first new line is accepted after %v (the middle of %d; least %v, most %v); all are delivered to nowhere with %.2f GB/s",
		size>>20, lines, took[len(took)/2], starts, took[0], took[len(took)-1], float64(size)/read.Seconds()/1e9)
}
