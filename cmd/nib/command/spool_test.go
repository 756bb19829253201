// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/sink/spool"
)

// begin is the time of the first line of keep; lines are a second apart.
var begin = time.Date(2025, 11, 21, 9, 0, 0, 0, time.UTC)

// keep makes a spool of some lines in dir. The levels alternate.
func keep(t testing.TB, dir string, lines int, c spool.Config) *spool.Sink {
	t.Helper()
	return keepFor(t, dir, lines, nil, c)
}

// keepFor is like keep, with a destination.
func keepFor(t testing.TB, dir string, lines int, to delivery.Destination, c spool.Config) *spool.Sink {
	t.Helper()
	c.SegmentSize, c.Sync = 64<<10, spool.SyncNever
	c.OnFull = []spool.FullRule{{From: nib.LevelTrace, Do: spool.ActionBlock, Wait: time.Minute}}
	s, err := spool.Open(dir, to, c)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	must(t, err)
	levels := []nib.Level{nib.LevelDebug, nib.LevelInfo, nib.LevelWarn, nib.LevelError}
	for n := range lines {
		r := nib.Record{
			Time: begin.Add(time.Duration(n) * time.Second).UnixNano(), Level: levels[n%4], Line: line(n),
		}
		must(t, s.WriteRecord(&r))
	}
	return s
}

func line(n int) []byte { return fmt.Appendf(nil, `{"n":%d,"pad":"%0150d"}`+"\n", n, n) }

// kept returns the directory of a closed spool.
func kept(t testing.TB, lines int) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "spool")
	must(t, keep(t, dir, lines, spool.Config{Name: "file"}).Close())
	return dir
}

// columns returns the words of the row that begins with dir.
func columns(t *testing.T, table, dir string) []string {
	t.Helper()
	for line := range strings.Lines(table) {
		if words := strings.Fields(line); len(words) > 0 && words[0] == dir {
			return words[1:]
		}
	}
	t.Fatalf("there is no line for %s in\n%s", dir, table)
	return nil
}

func TestSpoolLs(t *testing.T) {
	root := t.TempDir()
	a, b := filepath.Join(root, "a"), filepath.Join(root, "b")
	must(t, keep(t, a, 1000, spool.Config{Name: "file"}).Close())
	open := keep(t, b, 10, spool.Config{})
	defer open.Close()
	out := want(t, "spool", "ls", root)
	for dir, wantWords := range map[string]string{
		a: "none 4 256 KiB 1,000 2025-11-21T09:00:00.000Z 2025-11-21T09:16:39.000Z file 1,000",
		b: "alive 1 64 KiB 10 2025-11-21T09:00:00.000Z 2025-11-21T09:00:09.000Z destination 10",
	} {
		got := strings.Join(columns(t, out, dir), " ")
		if got = strings.Replace(got, "128 KiB", "64 KiB", 1); got != wantWords { // the next segment may exist
			t.Errorf("got  %s\nwant %s", got, wantWords)
		}
	}
	var l struct {
		Dir, Owner   string
		Records      int
		First        time.Time
		Destinations []struct {
			Name    string
			Pending int
		}
	}
	must(t, json.Unmarshal([]byte(want(t, "spool", "ls", "--json", a)), &l))
	if l.Dir != a || l.Owner != "none" || l.Records != 1000 || !l.First.Equal(begin) ||
		len(l.Destinations) != 1 || l.Destinations[0].Name != "file" || l.Destinations[0].Pending != 1000 {
		t.Errorf("got %+v", l)
	}
}

func TestSpoolErrors(t *testing.T) {
	empty := t.TempDir()
	for _, c := range []struct {
		args   []string
		stderr string
	}{
		{[]string{"spool", "ls"}, "requires at least 1 arg"},
		{[]string{"spool", "ls", empty}, "there is no spool in " + empty},
		{[]string{"spool", "verify", filepath.Join(empty, "x")}, "no such file"},
		{[]string{"spool", "cat", "--seq", "9-7", empty}, `--seq: "9-7" is none of`},
		{[]string{"spool", "cat", "--seq", "-", empty}, `--seq: "-" is none of`},
		{[]string{"spool", "cat", "--since", "noon", empty}, `--since: "noon" is not a time`},
		{[]string{"spool", "cat", "--level", "loud", empty}, "--level: "},
		{[]string{"spool", "cat", "--pending", "kafka", kept(t, 1)}, `no destination "kafka" (it has ["file"])`},
		{[]string{"spool", "nonsense"}, "unknown command"},
	} {
		code, stdout, stderr := run(c.args...)
		if code != 1 || stdout != "" || !strings.Contains(stderr, c.stderr) {
			t.Errorf("nib %q: got code %d, %q and %q", c.args, code, stdout, stderr)
		}
	}
}

func TestSpoolCat(t *testing.T) {
	dir := kept(t, 1000)
	text := func(numbers ...int) string {
		var b strings.Builder
		for _, n := range numbers {
			b.Write(line(n))
		}
		return b.String()
	}
	for _, c := range []struct {
		args string
		want string
	}{
		{"--seq 1-3", text(0, 1, 2)},
		{"--seq 999-", text(998, 999)},
		{"--seq -2", text(0, 1)},
		{"--seq 500", text(499)},
		{"--seq 5000", ""},
		{"--level error --seq -8", text(3, 7)},
		{"--since 2025-11-21T09:16:38Z", text(998, 999)},
		{"--until 2025-11-21T09:00:02Z", text(0, 1)},
		{"--since 2025-11-21T09:00:01Z --until 2025-11-21T09:00:03Z --level info", text(1, 2)},
		{"--pending file --seq 1000", text(999)},
		{"--since 1h", ""},
		{"--since -1h", ""},
		{"--since 2025-11-20 --until 2025-11-23 --seq -2", text(0, 1)},
	} {
		args := append(append([]string{"spool", "cat"}, strings.Fields(c.args)...), dir)
		if got := want(t, args...); got != c.want {
			t.Errorf("nib spool cat %s: got %d bytes, want %d: %.300s", c.args, len(got), len(c.want), got)
		}
	}
	if got := want(t, "spool", "cat", dir); strings.Count(got, "\n") != 1000 {
		t.Errorf("got %d lines, want 1000", strings.Count(got, "\n"))
	}
}

// A spool without the destination hides no lines of the others.
func TestSpoolCatOfADestinationThatOneSpoolLacks(t *testing.T) {
	root := t.TempDir()
	for name, to := range map[string]string{"a": "file", "b": "kafka", "c": "file"} {
		must(t, keep(t, filepath.Join(root, name), 3, spool.Config{Name: to}).Close())
	}
	code, stdout, stderr := run("spool", "cat", "--pending", "file", root)
	if code != 1 || strings.Count(stdout, "\n") != 6 || !strings.Contains(stderr, `no destination "file" (it has ["kafka"])`) {
		t.Errorf("got code %d, %d lines and %q", code, strings.Count(stdout, "\n"), stderr)
	}
}

// The characters of a pattern in the name of a directory have no meaning.
func TestSpoolRejectedOfADirectoryLikeAPattern(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "app[1]")
	must(t, keep(t, dir, 1, spool.Config{Name: "file"}).Close())
	const text = `{"seq":1,"reason":"no","line":{}}` + "\n"
	must(t, os.WriteFile(filepath.Join(dir, "file.rejected"), []byte(text), 0o600))
	if got := want(t, "spool", "rejected", dir); got != text {
		t.Errorf("got %q", got)
	}
}

func TestSpoolCatReadsTimesFarFromNow(t *testing.T) {
	dir := kept(t, 3)
	if code, stdout, stderr := run("spool", "cat", "--since", "0001-01-01", "--until", "9999-12-31", dir); code != 0 || strings.Count(stdout, "\n") != 3 {
		t.Errorf("got %d, %q, %q", code, stdout, stderr)
	}
	if _, stdout, _ := run("spool", "cat", "--since", "9999-12-31", dir); stdout != "" {
		t.Errorf("got %q", stdout)
	}
}

// TestSpoolCatEndsWithoutAnErrorWhenItsReaderEnds closes the pipe after the
// first line.
func TestSpoolCatEndsWithoutAnErrorWhenItsReaderEnds(t *testing.T) {
	cmd := child("spool", "cat", kept(t, 5000))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	must(t, err, cmd.Start())
	_, err = io.ReadFull(out, make([]byte, 100))
	must(t, err, out.Close())
	_ = cmd.Wait() // it ends by SIGPIPE
	if stderr.Len() > 0 {
		t.Errorf("got %s", &stderr)
	}
}

func TestSpoolVerify(t *testing.T) {
	dir := kept(t, 1000)
	if got := strings.Join(columns(t, want(t, "spool", "verify", dir), dir), " "); got != "none 1,000 0 0 0 0 ok" {
		t.Errorf("got %s", got)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	must(t, err)
	b, err := os.ReadFile(names[0])
	must(t, err)
	b[4096+100] ^= 1
	must(t, os.WriteFile(names[0], b, 0o600), os.Remove(names[2]), os.WriteFile(names[3], []byte("junk"), 0o600))

	code, stdout, stderr := run("spool", "verify", dir)
	words := columns(t, stdout, dir)
	if code != 1 || words[3] != "1" || words[5] != "1" || words[6] != "damaged" || !strings.Contains(stderr, "1 of 1 spools are not sound") {
		t.Errorf("got code %d, %s and %s", code, stdout, stderr)
	}
	for _, line := range []string{"number 1 is damaged", filepath.Base(names[3]) + " is not a segment"} {
		if !strings.Contains(stdout, dir+": "+line) {
			t.Errorf("%q is not in\n%s", line, stdout)
		}
	}
	code, stdout, _ = run("spool", "verify", "--json", dir)
	var v struct {
		Good, Damaged, Missing int
		OK                     bool
		Places                 []struct {
			First, Numbers int
			Kind           string
		}
	}
	must(t, json.Unmarshal([]byte(stdout), &v))
	if code != 1 || v.OK || v.Damaged != 1 || len(v.Places) != 1 || v.Places[0].Kind != "damaged" || v.Places[0].First != 1 {
		t.Errorf("got code %d and %+v", code, v)
	}
	if code, stdout, stderr = run("spool", "cat", dir); code != 1 || strings.Count(stdout, "\n") != v.Good ||
		!strings.Contains(stderr, "1 lines are damaged or missing") {
		t.Errorf("cat: got code %d, %d lines and %s; want 1 and %d", code, strings.Count(stdout, "\n"), stderr, v.Good)
	}
}

// TestSpoolVerifyOfAnAbsentSegment counts the numbers that were in it.
func TestSpoolVerifyOfAnAbsentSegment(t *testing.T) {
	dir := kept(t, 1000)
	names, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	must(t, err, os.Remove(names[1]))
	code, stdout, _ := run("spool", "verify", dir)
	words := columns(t, stdout, dir)
	if code != 1 || words[1] == "1,000" || words[4] == "0" || words[3] != "0" {
		t.Errorf("got code %d and %s", code, stdout)
	}
}

// TestSpoolVerifyOfAnAbsentBeginning removes the first segment, in which one
// record is settled.
func TestSpoolVerifyOfAnAbsentBeginning(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	var dest recordtest.Recorder
	dest.DeliverWith(func(ctx context.Context, _ []nib.Record) (delivery.Result, error) {
		if dest.Len() == 0 {
			return delivery.Result{Accepted: 1}, nil
		}
		<-ctx.Done()
		return delivery.Result{}, ctx.Err()
	})
	s := keepFor(t, dir, 1000, &dest, spool.Config{Name: "file", Drain: time.Millisecond})
	if err := s.Close(); !errors.Is(err, spool.ErrPending) {
		t.Fatalf("got %v, want ErrPending", err)
	}
	if got := columns(t, want(t, "spool", "verify", dir), dir); got[6] != "ok" {
		t.Errorf("before: got %s", got)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	must(t, err, os.Remove(names[0]))
	code, stdout, _ := run("spool", "verify", dir)
	words := columns(t, stdout, dir)
	var good, missing int
	_, err = fmt.Sscan(words[1], &good)
	must(t, err)
	_, err = fmt.Sscan(words[4], &missing)
	must(t, err)
	if code != 1 || good+missing != 999 || !strings.Contains(stdout, dir+": numbers 2 to ") {
		t.Errorf("got code %d and %s", code, stdout)
	}
}

// Several processes share a directory: each slot is listed, read and verified.
func TestSpoolShared(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	var all []*spool.Sink
	for range 2 {
		all = append(all, keep(t, home, 10, spool.Config{Shared: true}))
	}
	must(t, all[0].Close())
	defer all[1].Close()
	out := want(t, "spool", "ls", home)
	for slot, owner := range map[string]string{"slot-0001": "none", "slot-0002": "alive"} {
		if got := columns(t, out, filepath.Join(home, slot)); len(got) == 0 || got[0] != owner {
			t.Errorf("%s: got %q, want the owner %s", slot, got, owner)
		}
	}
	if got := strings.Count(want(t, "spool", "cat", home), "\n"); got != 20 {
		t.Errorf("cat: got %d lines, want 20", got)
	}
	_ = want(t, "spool", "verify", filepath.Join(home, "slot-0001"))
}
