// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/file"
	"github.com/nib-log/nib/sink/spool"
)

// TestCopiesOfASpoolOnOneFileLoseNoLine lets a spool and a copy of it, both
// with a backlog, deliver to one file at the same time (reliability row 41).
func TestCopiesOfASpoolOnOneFileLoseNoLine(t *testing.T) {
	home := t.TempDir()
	dir, twin, path := filepath.Join(home, "one"), filepath.Join(home, "two"), filepath.Join(home, "app.log")
	openOn := func(dir string) *spool.Sink {
		f, err := file.Open(path, file.Config{})
		must(t, err)
		s, err := spool.Open(dir, f, spool.Config{})
		must(t, err)
		t.Cleanup(func() { _, _ = s.Close(), f.Close() }) // again, if the test got so far
		return s
	}
	log := func(s *spool.Sink, name string, from, to int) {
		l := nib.NewSink(s)
		for n := from; n < to; n++ {
			l.Info().Msg(fmt.Sprintf("%s %d.", name, n))
		}
	}
	s := openOn(dir)
	log(s, "before", 0, 100)
	must(t, s.Flush(context.Background()))
	must(t, s.Close())
	s, err := spool.Open(dir, nil, spool.Config{})
	must(t, err)
	log(s, "backlog", 0, 100)
	must(t, s.Close())
	must(t, os.Mkdir(twin, 0o700))
	must(t, os.CopyFS(twin, os.DirFS(dir)))

	one, two := openOn(dir), openOn(twin)
	for n := 0; n < 100; n += 10 {
		log(one, "one", n, n+10)
		log(two, "two", n, n+10)
		must(t, one.Flush(context.Background()))
		must(t, two.Flush(context.Background()))
	}
	must(t, one.Close())
	must(t, two.Close())
	text, err := os.ReadFile(path)
	must(t, err)
	for name, most := range map[string]int{"before": 1, "backlog": 2, "one": 1, "two": 1} {
		for n := range 100 {
			if got := bytes.Count(text, fmt.Appendf(nil, "%q", fmt.Sprintf("%s %d.", name, n))); got < 1 || got > most {
				t.Errorf("%s %d: got it %d times, want 1 to %d", name, n, got, most)
			}
		}
	}
}
