// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package file

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// TestDeathWhileANameIsUsedTwice has an old file compressed between two steps
// of a rotation in the same microsecond, whose name is the same: the next
// compression would replace the compressed file. It takes an image of the files
// before each call of the rotation. After a death at any of these points and
// the next compression, each line is there once.
func TestDeathWhileANameIsUsedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, clock := newMem(t)
		r := compressor(t, m, clock)
		s := openMem(t, m, clock, Config{})
		writeNumbers(t, s, 0, 1)
		must(t, s.Rotate(), s.Close())
		s = openMem(t, m, clock, Config{}) // another process: it may use the name again
		writeNumbers(t, s, 1, 2)
		var images []*vfstest.Mem
		compressing := false
		m.Fail(vfstest.Fault{Op: vfstest.OpNoReplace, Path: "app.log", Reached: func() {
			compressing = true
			r.apply()
			compressing = false
		}})
		eachOp(m, func() {
			if !compressing {
				images = append(images, m.CrashClone(vfstest.Everything))
			}
		})
		must(t, s.Rotate(), s.Close())
		if len(images) < 10 {
			t.Errorf("got %d images, want one for each call", len(images))
		}
		for i, image := range append(images, m) {
			files := memFiles(t, image)
			compressor(t, image, clock).apply()
			checkNumbers(t, memAll(t, image), 2)
			if t.Failed() {
				t.Fatalf("death before call %d: got %q, then %q", i, files, memFiles(t, image))
			}
		}
	})
}

// Where files cannot be locked, the file that a rotation has just renamed is
// not compressed before the rotation has ended, which looks for it again.
func TestRotationWithoutLocksEndsBeforeCompression(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, clock := newMem(t)
		m.Fail(vfstest.Fault{Op: vfstest.OpLock, Err: errors.ErrUnsupported})
		s := openMem(t, m, clock, Config{
			Compress: Gzip(0), OnError: func(err error) { t.Errorf("OnError: %v", err) },
		})
		reached := 0
		m.Fail(vfstest.Fault{
			Op: vfstest.OpLstat, Path: "app-*-0000.log.gz", Skip: 1, Times: 1,
			Reached: func() { // after the renaming
				s.w.retention.start()
				synctest.Wait()
				reached++
			},
		})
		writeNumbers(t, s, 0, 1)
		must(t, s.Rotate())
		cleaned(s)
		must(t, s.Close())
		if names := memFiles(t, m); reached != 1 || len(names) != 2 {
			t.Errorf("got %d compressions, %q, want one, and one file beside the log",
				reached, names)
		}
		wantText(t, "lines", numbers(memAll(t, m)), "0")
	})
}

// compressor returns the retention of a sink that compresses.
func compressor(t *testing.T, m *vfstest.Mem, clock *testClock) *retention {
	s := openMem(t, m, clock, Config{Compress: Gzip(0)})
	must(t, s.Close())
	s.w.retention.quit.Store(false)
	return s.w.retention
}
