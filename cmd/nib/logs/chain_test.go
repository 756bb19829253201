// SPDX-License-Identifier: Apache-2.0

package logs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/cmd/nib/internal/lineindex"
	"github.com/nib-log/nib/cmd/nib/logs"
	"github.com/nib-log/nib/internal/seed"
)

// timed writes logs of a rotated set and another one.
func timed(t *testing.T, dir string, begin time.Time) (paths []string) {
	t.Helper()
	for i, name := range []string{"app.log.1", "app.log", "other.log"} {
		var b bytes.Buffer
		at := begin.Add(time.Duration(i%2)*2*time.Hour + time.Duration(i)*time.Second)
		for n := 0; b.Len() < lineindex.Least+1000; n++ {
			at = at.Add(time.Duration(50+n%3) * time.Millisecond)
			fmt.Fprintf(&b, `{"time":%q,"level":"info","message":"request served","n":%d,"pad":"%0150d"}`+"\n", at.Format(time.RFC3339Nano), n, n)
			if n%1000 == 0 {
				b.WriteString("panic: not a line of a log\n" + `{"level":"warn","a":1}` + "\n")
				fmt.Fprintf(&b, `{"time":%q,"message":"no level"}`+"\n", at.Format(time.RFC3339Nano))
			}
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b.Bytes()[:b.Len()-1], 0o600); err != nil { // without the last line break
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// catWindow returns the lines from one time to another.
func catWindow(t *testing.T, args []string, w lineindex.Window, indexes string, context int) (string, logs.Counts) {
	t.Helper()
	sources, err := logs.Find(args, nil, false, w.Since)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("time >= %q and time < %q", w.Since.Format(time.RFC3339Nano), w.Until.Format(time.RFC3339Nano))
	if w.HasLevel {
		text = "level >= " + w.Least.String() + " and " + text
	}
	q := query(t, text)
	var out bytes.Buffer
	counts, err := logs.Cat(t.Context(), &out, sources, logs.Selection{
		Query: q, Zone: time.UTC, Context: context, Indexes: indexes, Window: w,
	}, rawLines(t))
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), counts
}

// Rotated files and another log are read in windows of time, with indexes and
// without.
func TestCatWithIndexes(t *testing.T) {
	dir := t.TempDir()
	begin := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	paths, indexes := timed(t, dir, begin), filepath.Join(dir, "index")
	for _, c := range seed.Some(t, 1, []struct {
		name         string
		args         []string
		since, until time.Duration
		context      int
		level        nib.Level
	}{
		{"nothing", paths, -2 * time.Hour, -time.Hour, 0, 0},
		{"one file", paths[:1], time.Minute, 2 * time.Minute, 0, 0},
		{"both files of a set", paths[:2], time.Minute, 2*time.Hour + time.Minute, 0, 0},
		{"two logs", paths, time.Minute, 2 * time.Minute, 0, 0},
		{"two logs with a level", paths, time.Minute, 2 * time.Minute, 0, nib.LevelDebug},
		{"nothing", paths[:1], time.Minute, 2 * time.Minute, 0, nib.LevelError},
		{"with context", paths[:1], time.Minute, time.Minute + time.Second, 2, 0},
	}) {
		w := lineindex.Window{Since: begin.Add(c.since), Until: begin.Add(c.until)}
		w.Least, w.HasLevel, w.Exact = c.level, c.level != 0, c.level != 0
		want, wantCounts := catWindow(t, c.args, w, "", c.context)
		got, counts := catWindow(t, c.args, w, indexes, c.context)
		if got != want || counts != wantCounts {
			t.Errorf("%s: got %d bytes and %+v, want %d and %+v", c.name, len(got), counts, len(want), wantCounts)
		}
		if (len(want) == 0) != (c.name == "nothing") {
			t.Errorf("%s: %d bytes are selected", c.name, len(want))
		}
	}
	if list, _ := filepath.Glob(filepath.Join(indexes, "*")); len(list) != 3 && !testing.Short() {
		t.Errorf("got indexes %q, want one for each file", list)
	}
}

// The block with the error of a source is not memory for another one.
func TestASourceThatCannotBeOpened(t *testing.T) {
	lines := seed.Times(1<<20, 1<<20, 1<<20)
	want := uint64(4 * lines)
	broken := errors.New("no connection")
	var sources []logs.Source
	for i := range 8 {
		sources = append(sources, logs.Source{Open: func(context.Context) (io.ReadCloser, error) {
			if i < 4 {
				return nil, broken
			}
			return io.NopCloser(bytes.NewReader(bytes.Repeat([]byte("a line\n"), lines))), nil
		}})
	}
	counts, err := logs.Cat(t.Context(), io.Discard, sources, logs.Selection{}, rawLines(t))
	if !errors.Is(err, broken) || errors.Is(err, io.ErrShortBuffer) || counts.Lines != want {
		t.Errorf("got %d lines and %v, want %d and only %v", counts.Lines, err, want, broken)
	}
}
