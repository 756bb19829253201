// SPDX-License-Identifier: Apache-2.0

package logs_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib/internal/await"
)

// A process that does not reopen its log writes to the renamed file, also after
// the next file has been read.
func TestTailReadsLateLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	put(t, path, "a\n")
	synctest.Test(t, func(t *testing.T) {
		f := followFile(t, path)
		ok(t, os.Rename(path, path+".1"))
		put(t, path, "b\n")
		f.check(t, "a b ", "")
		put(t, path+".1", "late 1\nlate")
		put(t, path, "c\n")
		f.check(t, "c late 1 ", "")
		put(t, path+".1", " 2\n")
		f.check(t, "late 2 ", "")

		put(t, path, "not")
		put(t, path+".1", "late 3\n")
		f.check(t, "", "")
		put(t, path, "within\n")
		f.check(t, "notwithin late 3 ", "")

		put(t, path+".1", "unfinished")
		await.Sleep(time.Minute)
		f.check(t, "unfinished ", "")
		put(t, path, "d\n")
		f.check(t, "d ", "")
	})
}

// A renamed file is read for as long as the next one has no line.
func TestTailStaysWithAFileUntilTheNextOneHasALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	put(t, path, "a\n")
	synctest.Test(t, func(t *testing.T) {
		f := followFile(t, path)
		f.check(t, "a ", "")
		ok(t, os.Rename(path, path+".2"))
		put(t, path, "")
		ok(t, os.Rename(path, path+".1"))
		put(t, path, "")
		await.Sleep(10 * time.Second)
		put(t, path+".2", "b\nunfinished")
		f.check(t, "b ", "")
		await.Sleep(10 * time.Second)
		put(t, path, "d\n")
		put(t, path+".2", " c\n") // is read before d
		f.check(t, "unfinished c d ", "")
	})
}

// A process that does not reopen its log keeps no other one from being read.
func TestTailReadsTheNextFileWhileTheOldOneGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	put(t, path, "")
	synctest.Test(t, func(t *testing.T) {
		f := followFile(t, path)
		ok(t, os.Rename(path, path+".1"))
		put(t, path, "new\n")
		want := ""
		for range 10 {
			await.Sleep(soon - 50*time.Millisecond) // not when polls happen
			put(t, path+".1", "old\n")
			want += "old "
		}
		f.check(t, want[:12]+"new "+want[12:], "")
	})
}

// A file that was empty when it was known, whose identity a later file of the
// set has: the lines are new.
func TestTailReadsAFileThatWasKnownWithoutLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	put(t, path, "a\n")
	put(t, path+".1", "")
	synctest.Test(t, func(t *testing.T) {
		f := followFile(t, path)
		f.check(t, "a ", "")
		ok(t, os.Rename(path, path+".2"))
		put(t, path+".1", "b\n")
		put(t, path, "c\n")
		f.check(t, "b c ", "")
	})
}

// A file that is left without a line has one later, and is renamed: each line
// is shown once.
func TestTailReadsLateLinesOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	put(t, path, "")
	synctest.Test(t, func(t *testing.T) {
		f := followFile(t, path)
		ok(t, os.Rename(path, path+".1"))
		put(t, path, "b\n")
		f.check(t, "b ", "")
		put(t, path+".1", "late\n")
		f.check(t, "late ", "")
		for i, wait := range []time.Duration{0, 2 * time.Minute} {
			await.Sleep(wait)
			ok(t, os.Rename(path+"."+[]string{"1", "2"}[i], path+"."+[]string{"2", "3"}[i]))
			ok(t, os.Rename(path, path+".1"))
			put(t, path, "c\n")
			f.check(t, "c ", "")
			ok(t, os.Rename(path+".1", path+".old"))
		}
	})
}
