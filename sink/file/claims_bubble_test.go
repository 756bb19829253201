// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package file

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// TestLockOfClaimsThatStays has a process that is suspended while it holds the
// lock: lines are written within a second, later ones sooner, and the error is
// reported once.
func TestLockOfClaimsThatStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := vfstest.NewMem(time.Now)
		must(t, m.MkdirAll(logDir, 0o700))
		var reported []error
		s := open(t, livePath, Config{fs: m, boot: 1, OnError: func(err error) { reported = append(reported, err) }})
		s.Mark()
		held, err := m.Open(claimsPath, os.O_RDWR, 0)
		must(t, err, held.Lock(vfs.Exclusive))
		start := time.Now()
		for n := range 200 {
			deliverAll(t, s, *deskRecord(n))
		}
		if took := time.Since(start); took > time.Second+100*time.Millisecond {
			t.Errorf("200 batches took %v", took)
		}
		if len(reported) != 1 || s.Stats().Errors == 0 || hasClaim(s.Mark()) {
			t.Errorf("got %v, %d errors, and a mark with a claim: %v", reported, s.Stats().Errors, hasClaim(s.Mark()))
		}
		await.Sleep(time.Duration(longestRotate))
		start = time.Now()
		deliverAll(t, s, *deskRecord(200))
		if took := time.Since(start); took > 11*time.Millisecond {
			t.Errorf("a batch took %v when the lock is still held", took)
		}
		must(t, held.Close())
		await.Sleep(time.Duration(longestRotate))
		deliverAll(t, s, *deskRecord(201))
		if !hasClaim(s.Mark()) {
			t.Error("the mark has no claim when the lock is free")
		}
		checkNumbers(t, memText(t, m, livePath), 202)
	})
}

// TestLockOfClaimsIsWaitedFor has another spool that holds the lock while it
// writes a batch.
func TestLockOfClaimsIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := vfstest.NewMem(time.Now)
		must(t, m.MkdirAll(logDir, 0o700))
		s := open(t, livePath, Config{fs: m, boot: 1})
		s.Mark()
		held, err := m.Open(claimsPath, os.O_RDWR, 0)
		must(t, err, held.Lock(vfs.Exclusive))
		go func() {
			time.Sleep(100 * time.Millisecond)
			must(t, held.Close())
		}()
		start := time.Now()
		deliverAll(t, s, *deskRecord(0))
		if took := time.Since(start); took > 101*time.Millisecond {
			t.Errorf("the batch took %v, want 100 ms and at most one attempt more", took)
		}
		if !hasClaim(s.Mark()) || s.Stats().Errors > 0 {
			t.Errorf("got %+v, and a mark with a claim: %v", s.Stats(), hasClaim(s.Mark()))
		}
	})
}
