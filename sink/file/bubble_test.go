// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package file

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// TestRotateSleepsBetweenItsAttempts checks that Rotate sleeps between
// attempts, and gives up after ten seconds, while another process holds the
// lock.
func TestRotateSleepsBetweenItsAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{})
		writeNumbers(t, s, 0, 1)
		lock := lockOf(t, m)
		most := int(rotateTimeout/rotateStep) + 3
		attempts := 0
		m.Fail(vfstest.Fault{Op: vfstest.OpLock, Path: lockName("app.log"), Reached: func() {
			if attempts++; attempts == 2*most {
				must(t, lock.Close()) // ends a Rotate that does not sleep
			}
		}})
		start := time.Now()
		err := s.Rotate()
		if took := time.Since(start); !errors.Is(err, vfs.ErrLocked) || took <= rotateTimeout || took > rotateTimeout+2*rotateStep {
			t.Errorf("got %v after %v, want %v just after %v", err, took, vfs.ErrLocked, rotateTimeout)
		}
		if attempts > most {
			t.Errorf("got %d attempts, want at most %d", attempts, most)
		}
	})
}

// TestRotateTriesAgainAfterAStop stops the process for longer than the timeout
// while another one holds the lock, which is free afterwards.
func TestRotateTriesAgainAfterAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{})
		writeNumbers(t, s, 0, 1)
		m.Fail(vfstest.Fault{Op: vfstest.OpLock, Path: lockName("app.log"), Times: 1,
			Err: vfs.ErrLocked, Reached: func() { time.Sleep(2 * rotateTimeout) }})
		if err := s.Rotate(); err != nil || s.Stats().Rotations != 1 {
			t.Errorf("got %v and %d rotations, want 1", err, s.Stats().Rotations)
		}
	})
}

// TestOneGoroutineAppliesTheLimits checks that a rotation during a compression
// starts no second goroutine, and that its file is compressed as well.
func TestOneGoroutineAppliesTheLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, clock := newMem(t)
		started, release := 0, make(chan struct{})
		s := openMem(t, m, clock, Config{Compress: testCompressor(func(w io.Writer, r io.Reader) error {
			started++
			<-release
			_, err := io.Copy(w, r)
			return err
		})})
		for n := range 3 {
			writeNumbers(t, s, n, n+1)
			must(t, s.Rotate())
			clock.advance(time.Microsecond)
			synctest.Wait()
			if started != 1 {
				t.Errorf("got %d compressions at a time after %d rotations, want 1", started, n+1)
			}
		}
		close(release)
		cleaned(s)
		if started != 3 {
			t.Errorf("got %d compressed files, want 3: %q", started, memFiles(t, m))
		}
		must(t, s.Close())
	})
}

// TestCloseWaitsForTheTimer checks that Close returns only after the function
// of the timer, which has begun before, has ended.
func TestCloseWaitsForTheTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{Buffer: 1000})
		s.buffer.firing.Add(1)
		closed := false
		go func() {
			must(t, s.Close())
			closed = true
		}()
		synctest.Wait()
		if closed {
			t.Error("Close has returned before the timer's function")
		}
		s.buffer.firing.Done()
		synctest.Wait()
		if !closed {
			t.Error("Close has not returned after the timer's function")
		}
	})
}

// TestIdleBuffer logs a line after two hours: it is written after 10 ms.
func TestIdleBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{Buffer: 1000})
		await.Sleep(2 * time.Hour)
		writeNumbers(t, s, 0, 1)
		await.Sleep(10*time.Millisecond - 1)
		wantText(t, "before", memAll(t, m), "")
		await.Sleep(time.Nanosecond)
		checkNumbers(t, memAll(t, m), 1)
	})
}
