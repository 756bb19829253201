// SPDX-License-Identifier: Apache-2.0

package logs_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib/cmd/nib/logs"
	"github.com/nib-log/nib/internal/await"
)

// followed is a file that is followed, and what was reported.
type followed struct {
	path    string
	out     *screen
	reports screen
}

// followFile follows a file, or what a pattern or directory has.
func followFile(t *testing.T, path string) *followed {
	f := &followed{path: path}
	f.out = tail(t, logs.Selection{Report: func(format string, args ...any) {
		fmt.Fprintf(&f.reports, format+"\n", args...)
	}}, 10, path)
	await.Sleep(soon)
	return f
}

func (f *followed) check(t *testing.T, want, report string) {
	t.Helper()
	await.Sleep(2 * later)
	if got := f.out.take(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := f.reports.take(); !strings.Contains(got, report) || report == "" && got != "" {
		t.Errorf("got the report %q, want %q", got, report)
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Files that came and were renamed between two looks are read, whatever the
// names of rotation are.
func TestTailReadsFilesBetweenTwoLooks(t *testing.T) {
	for name, rotate := range map[string]func(path string, n int) error{
		"stamps": func(path string, n int) error {
			return os.Rename(path, fmt.Sprintf("%s-20261121T103000.%06dZ-0000.log",
				strings.TrimSuffix(path, ".log"), n))
		},
		"numbers": func(path string, n int) error {
			for i := n; i > 0; i-- {
				from, to := fmt.Sprint(path, ".", i), fmt.Sprint(path, ".", i+1)
				if err := os.Rename(from, to); err != nil {
					return err
				}
			}
			return os.Rename(path, path+".1")
		},
	} {
		path := filepath.Join(t.TempDir(), "app.log")
		put(t, path, "0\n")
		ok(t, rotate(path, 0)) // it was there before, so it is no news
		put(t, path, "1\n")
		synctest.Test(t, func(t *testing.T) {
			f := followFile(t, path)
			want := "1 "
			for i := 1; i < 30; i++ {
				ok(t, rotate(path, i))
				put(t, path, fmt.Sprintln("line", i))
				want += fmt.Sprint("line ", i, " ")
			}
			f.check(t, want, "")
		})
		if t.Failed() {
			t.Log(name)
		}
	}
}

// A file that was removed may have had successors that are gone, too.
func TestTailReportsWhatItCannotHaveSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	put(t, path, "a\n")
	synctest.Test(t, func(t *testing.T) {
		f := followFile(t, path)
		ok(t, os.Rename(path, path+".1"))
		put(t, path, "b\n")
		ok(t, os.Rename(path, path+".1")) // replaces a
		put(t, path, "c\n")
		f.check(t, "a b c ", "app.log was removed")
	})
}

// missedFiles are cases of TestTailNamesTheFilesThatItHasMissed.
var missedFiles = []struct {
	name         string
	files        map[string]string // by what is appended to the path
	first        string            // the new name of the first file
	want, report string
}{
	{"all are there", map[string]string{".1": "c\n", ".2": "b\n"}, ".3", "a b c new ", ""},
	{
		"one is gone", map[string]string{".1": "c\n"}, ".3", "a c new ",
		"an unknown number of bytes of app.log.2 were gone before they were read",
	},
	{
		"the last two are gone", nil, ".3", "a new ",
		"an unknown number of bytes of app.log.2 were gone before they were read " +
			"an unknown number of bytes of app.log.1 were gone before they were read",
	},
	{
		"one is compressed", map[string]string{".1.gz": "c\n"}, ".2", "a new ",
		"at least 2 bytes of app.log.1.gz were compressed before they were read",
	},
	{
		"one is compressed and damaged", map[string]string{".1.gz": ""}, ".2", "a new ",
		"an unknown number of bytes of app.log.1.gz were compressed before they were read",
	},
	{
		"one is being compressed", map[string]string{".1": "c\n", ".1.gz": ""}, ".2",
		"a c new ", "",
	},
	{"the first is compressed", map[string]string{".1.gz": "a\n"}, "", "a new ", ""},
	{
		"all are removed", nil, "", "a new ",
		"app.log was removed or renamed: an unknown number of bytes may be gone " +
			"before they were read",
	},
}

// What was rotated away between two looks is read, or is named.
func TestTailNamesTheFilesThatItHasMissed(t *testing.T) {
	for _, c := range missedFiles {
		dir := t.TempDir()
		path := filepath.Join(dir, "app.log")
		put(t, path, "a\n")
		synctest.Test(t, func(t *testing.T) {
			f := followFile(t, path)
			if c.first != "" {
				ok(t, os.Rename(path, path+c.first))
			} else {
				ok(t, os.Remove(path))
			}
			for name, text := range c.files {
				if strings.HasSuffix(name, ".gz") && text != "" {
					text = gzipped(t, text)
				}
				put(t, path+name, text)
			}
			put(t, path, "new\n")
			await.Sleep(2 * later)
			report := strings.ReplaceAll(f.reports.take(), dir+"/", "")
			if got := f.out.take(); got != c.want || strings.TrimSpace(report) != c.report {
				t.Errorf("%s: got %q and %q, want %q and %q", c.name, got, report, c.want, c.report)
			}
		})
	}
}

// A rotation that is seen between two of its renames leaves a number free, and
// no file is gone.
func TestTailWaitsForTheEndOfARotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	put(t, path, "a\n")
	synctest.Test(t, func(t *testing.T) {
		f := followFile(t, path)
		ok(t, os.Rename(path, path+".3"))
		put(t, path+".1", "b\n")
		put(t, path, "c\n")
		await.Sleep(soon) // the files are looked at
		ok(t, os.Rename(path+".1", path+".2"))
		ok(t, os.Rename(path, path+".1"))
		put(t, path, "d\n")
		f.check(t, "a b c d ", "")
	})
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	ok(t, errors.Join(err, w.Close()))
	return b.String()
}

// A reader that is slower than the writer knows how much a truncation took.
func TestTailCountsTheBytesThatATruncationTook(t *testing.T) {
	for _, keep := range []int64{0, 100_000} {
		path := filepath.Join(t.TempDir(), "app.log")
		put(t, path, strings.Repeat("old\n", 50_000))
		synctest.Test(t, func(t *testing.T) {
			found, err := logs.Find([]string{path}, nil, true, time.Now())
			ok(t, err)
			var out, reports screen
			s := logs.Selection{Report: func(format string, args ...any) {
				fmt.Fprintf(&reports, format, args...)
			}}
			sources, err := logs.Tail(found, s, 100_000)
			ok(t, err)
			r, err := sources[0].Open(t.Context())
			ok(t, err)
			defer r.Close()
			_, err = io.CopyN(&out, r, 4)
			ok(t, err)
			ok(t, os.Truncate(path, keep))
			go func() { _, _ = io.Copy(&out, r) }() // ends with the context of the test
			await.Sleep(soon)
			put(t, path, "new\n")
			await.Sleep(soon)
			got := out.take()
			read := strings.Count(got, "old ") * 4
			want := fmt.Sprintf("at least %d bytes of %s were gone before they were read",
				200_000-read, path)
			if text := reports.take(); text != want || !strings.HasSuffix(got, "old new ") ||
				read < int(keep) || read > 100_000 {
				t.Errorf("got %d bytes and %q, want %s", read, text, want)
			}
		})
	}
}

// The copy of copytruncate has what was added since the last look.
func TestTailReadsTheCopyOfATruncatedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	put(t, path, "a\n")
	synctest.Test(t, func(t *testing.T) {
		f := followFile(t, path)
		put(t, path, "b\n")
		put(t, path+".1", "a\nb\n")
		ok(t, os.Truncate(path, 0))
		f.check(t, "a b ", "")
		put(t, path, "c\nlonger than before\n")
		f.check(t, "c longer than before ", "")
		ok(t, os.Truncate(path, 0)) // and longer again at the next look
		put(t, path, strings.Repeat("d\n", 30))
		f.check(t, strings.Repeat("d ", 30), "app.log was truncated: an unknown number of bytes")
	})
}

// Several copies are read in their order. The last copy is made while an
// earlier copy is read.
func TestTailReadsEachCopyOfATruncatedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	put(t, path, "a\n")
	copyAndTruncate := func(t *testing.T) {
		for i := 3; i > 0; i-- {
			_ = os.Rename(fmt.Sprint(path, ".", i), fmt.Sprint(path, ".", i+1)) // if it is there
		}
		text, err := os.ReadFile(path)
		ok(t, err)
		put(t, path+".1", string(text))
		ok(t, os.Truncate(path, 0))
	}
	synctest.Test(t, func(t *testing.T) {
		f := followFile(t, path)
		for _, text := range []string{"b\n", "c\n", "d\n"} {
			put(t, path, text)
			copyAndTruncate(t)
		}
		put(t, path, "e\n")
		f.check(t, "a b c d e ", "")
		put(t, path, "f\n")
		text, err := os.ReadFile(path)
		ok(t, err)
		put(t, path+".0", string(text)) // and has not been truncated yet
		f.check(t, "f ", "")
	})
}

// What is added to a copy after it was noticed is also in the file.
func TestTailReadsNoCopyThatIsBeingMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	put(t, path, "a\n")
	synctest.Test(t, func(t *testing.T) {
		f := followFile(t, path)
		put(t, path, "b\n")
		put(t, path+".1", "a\nb\n")
		ok(t, os.Truncate(path, 0))
		put(t, path, "c\n")
		put(t, path+".0", "")
		f.check(t, "a b c ", "")
		put(t, path+".0", "c\n")
		put(t, path, "d\n")
		f.check(t, "d ", "")
	})
}

func TestTailWaitsForAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	synctest.Test(t, func(t *testing.T) {
		f := followFile(t, path)
		f.check(t, "", "waiting for "+path)
		put(t, path, "a\n")
		ok(t, os.Rename(path, path+".1")) // before it was seen
		put(t, path, "b\n")
		f.check(t, "a b ", "")
	})
}

// A file that is renamed or removed before it is read is the same file.
func TestTailFollowsTheFileThatItHasFound(t *testing.T) {
	for _, removed := range []bool{false, true} {
		dir := t.TempDir()
		path := filepath.Join(dir, "app.log")
		put(t, path, "a\nb\n")
		synctest.Test(t, func(t *testing.T) {
			found, err := logs.Find([]string{path}, nil, false, time.Now())
			ok(t, err)
			f := &followed{path: path, out: new(screen)}
			s := logs.Selection{Report: func(format string, args ...any) {
				fmt.Fprintf(&f.reports, format+"\n", args...)
			}}
			now, later, err := logs.Split(found, s)
			ok(t, err)
			put(t, path, "c\n")
			ok(t, os.Rename(path, path+".1"))
			put(t, path, "d\n")
			ok(t, os.Rename(path, path+".0"))
			put(t, path, "e\n")
			report := ""
			if removed { // others may have been, too
				ok(t, os.Remove(path+".1"))
				report = "app.log was removed or renamed: an unknown number of bytes"
			}
			for _, sources := range [][]logs.Source{now, later} {
				r, err := sources[0].Open(t.Context())
				ok(t, err)
				defer r.Close()
				go func() { _, _ = io.Copy(f.out, r) }() // ends with the context of the test
				await.Sleep(2 * soon)
			}
			f.check(t, "a b c d e ", report)
		})
	}
}

// The sources of files close each file once.
func TestTheFileOfATailIsClosedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	put(t, path, "a\n")
	found, err := logs.Find([]string{path}, nil, true, time.Now())
	ok(t, err)
	followed, err := logs.Tail(found, logs.Selection{}, 1)
	ok(t, err)
	last, err := logs.Last(found, logs.Selection{}, 1)
	ok(t, err)
	for _, source := range append(followed, last...) {
		r, err := source.Open(t.Context())
		ok(t, err)
		_, err = io.ReadFull(r, make([]byte, 2))
		ok(t, errors.Join(err, r.Close()))
	}
}
