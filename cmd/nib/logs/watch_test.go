// SPDX-License-Identifier: Apache-2.0

package logs_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/cmd/nib/logs"
	"github.com/nib-log/nib/sink/spool"
)

// New files of a pattern are read from their first line, and renamed ones are
// not new.
func TestTailPicksUpNewFilesOfAPattern(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	put(t, in("a.log"), "")
	put(t, in("day-2026-11-27.log"), "27\n")
	synctest.Test(t, func(t *testing.T) {
		f := followFile(t, in("*.log*"))
		f.check(t, "27 ", "")

		put(t, in("b.log"), "b 1\nb 2\n")
		f.check(t, "b 1 b 2 ", "")
		put(t, in("b.log"), "b 3\n")
		f.check(t, "b 3 ", "")

		put(t, in("a.log"), "a 2\n")
		ok(t, os.Rename(in("a.log"), in("a.log.1")))
		put(t, in("a.log"), "a 3\n")
		f.check(t, "a 2 a 3 ", "")
		ok(t, os.Rename(in("a.log"), in("a.log.old"))) // a name that no rotation has
		put(t, in("a.log"), "a 4\n")
		f.check(t, "a 4 ", "a.log was")

		put(t, in("day-2026-11-28.log"), "28\n")
		f.check(t, "28 ", "")
		put(t, in("day-2026-11-26.log"), "26\n") // copied from elsewhere
		put(t, in("day-2026-11-27.log.gz"), "\x1f\x8b")
		ok(t, os.Mkdir(in("c.log"), 0o700))
		f.check(t, "", "")

		put(t, in("d.log"), "d 1\n") // renamed twice before it was seen
		ok(t, os.Rename(in("d.log"), in("d.log.2")))
		put(t, in("d.log"), "d 2\n")
		ok(t, os.Rename(in("d.log"), in("d.log.1")))
		put(t, in("d.log"), "d 3\n")
		f.check(t, "d 1 d 2 d 3 ", "")
	})
}

// A file that comes beside a compressed file with its name is new.
func TestTailPicksUpAFileBesideACompressedOne(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "app.gz"), gzipped(t, "old\n"))
	synctest.Test(t, func(t *testing.T) {
		f := followFile(t, filepath.Join(dir, "app*"))
		f.check(t, "old ", "")
		put(t, filepath.Join(dir, "app"), "new\n")
		f.check(t, "new ", "")
	})
}

// The system uses the number of a removed file again.
func TestTailPicksUpAFileInPlaceOfAnother(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := followFile(t, filepath.Join(dir, "*.log"))
		f.check(t, "", "waiting for "+filepath.Join(dir, "*.log"))
		for i := range 5 {
			path := filepath.Join(dir, fmt.Sprint(i, ".log"))
			put(t, path, fmt.Sprintln("job", i))
			f.check(t, fmt.Sprint("job ", i, " "), "")
			ok(t, os.Remove(path))
		}
	})
}

func TestTailPicksUpNewSpools(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	for _, name := range []string{"a", "b"} {
		c := spool.Config{SegmentSize: 64 << 10}
		s, err := spool.Open(filepath.Join(elsewhere, name), nil, c)
		ok(t, err)
		ok(t, s.WriteRecord(&nib.Record{Line: []byte(name + "\n")}))
		ok(t, s.Close())
	}
	ok(t, os.Rename(filepath.Join(elsewhere, "a"), filepath.Join(dir, "a")))
	synctest.Test(t, func(t *testing.T) {
		f := followFile(t, dir)
		f.check(t, "a ", "")
		ok(t, os.Rename(filepath.Join(elsewhere, "b"), filepath.Join(dir, "b")))
		f.check(t, "b ", "")
	})
}

// Records that are deleted before they are read are counted.
func TestTailCountsTheRecordsThatItCannotHaveSeen(t *testing.T) {
	const records, last = 700, 600
	dir := filepath.Join(t.TempDir(), "spool")
	s, err := spool.Open(dir, nil, spool.Config{
		SegmentSize: 64 << 10, Sync: spool.SyncNever,
		OnFull: []spool.FullRule{{Do: spool.ActionBlock, Wait: time.Minute}},
	})
	ok(t, err)
	for range records {
		ok(t, s.WriteRecord(&nib.Record{Line: []byte(strings.Repeat("x", 200))}))
	}
	ok(t, s.Close())
	found, err := logs.Find([]string{dir}, nil, true, time.Now())
	ok(t, err)
	reports := make(chan string)
	sources, err := logs.Tail(found, logs.Selection{Report: func(format string, args ...any) {
		reports <- fmt.Sprintf(format, args...)
	}}, last)
	ok(t, err)

	names, err := filepath.Glob(filepath.Join(dir, "*.seg")) // sorted
	ok(t, err)
	ok(t, os.Remove(names[0]))
	v, err := spool.Inspect(dir)
	ok(t, err)
	gone := int(v.Segments[0].First) - (1 + records - last) // numbers begin with 1
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := sources[0].Open(ctx)
	ok(t, err)
	defer r.Close() // only read
	rest := make(chan int)
	go func() {
		text, _ := io.ReadAll(r) // ends with the context
		rest <- strings.Count(string(text), "\n")
	}()
	want := fmt.Sprintf("up to %d records of %s, an unknown number of bytes, were gone before "+
		"they were read", gone, dir)
	if gone <= 0 {
		t.Fatalf("the first segment has the records up to %d", v.Segments[0].First)
	}
	if got := <-reports; got != want {
		t.Errorf("got the report %q, want %q", got, want)
	}
	cancel()
	if got := <-rest; got != last-gone {
		t.Errorf("got %d records, want %d", got, last-gone)
	}
}

// The number of files that are picked up has a limit, which is reported.
func TestTailPicksUpSoManyFiles(t *testing.T) {
	dir := t.TempDir()
	var reports []string
	more := logs.Watch([]string{filepath.Join(dir, "*.log")}, nil, logs.Selection{
		Report: func(format string, args ...any) {
			reports = append(reports, fmt.Sprintf(format, args...))
		},
	})
	for i := range 1002 {
		put(t, filepath.Join(dir, fmt.Sprintf("%04d.log", i)), "1\n")
	}
	list := more()
	if len(list) != 1000 || list[999].Name != filepath.Join(dir, "0999.log") || len(reports) != 2 ||
		reports[1] != "2 new files or spools with at least 4 bytes are not followed: 1000 are" {
		t.Errorf("got %d, %q", len(list), reports)
	}
	if list = more(); len(list) != 0 || len(reports) != 2 {
		t.Errorf("got %d, %q", len(list), reports)
	}
}
