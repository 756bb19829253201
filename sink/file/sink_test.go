// SPDX-License-Identifier: Apache-2.0

package file

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/nibtest"
)

// lines splits the text of a file into lines.
func lines(text string) (list [][]byte) {
	for line := range bytes.Lines([]byte(text)) {
		list = append(list, line)
	}
	return list
}

// variants are configurations that must all fulfill the contract of a sink.
var variants = []struct {
	name string
	c    Config
}{
	{"unbuffered", Config{}},
	{"buffered", Config{Buffer: 4096}},
	{"small buffer", Config{Buffer: 100}},
	{"rotated", Config{MaxSize: 10_000}},
	{"rotated and buffered", Config{MaxSize: 5000, Buffer: 8000}},
	{"synced", Config{Sync: SyncFlush}},
}

func TestConformanceOfTheSink(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			nibtest.TestSink(t, func(t testing.TB) (nib.Sink, func() [][]byte) {
				dir := t.TempDir()
				return open(t, filepath.Join(dir, "app.log"), v.c), func() [][]byte { return lines(all(t, dir)) }
			})
		})
	}
}

func TestConformanceOfTheDestination(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			nibtest.TestDestination(t, func(t testing.TB) (delivery.Destination, func() [][]byte) {
				dir := t.TempDir()
				return open(t, filepath.Join(dir, "app.log"), v.c), func() [][]byte { return lines(all(t, dir)) }
			})
		})
	}
}

func TestLineIsInTheFileWhenTheCallReturns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	s := open(t, path, Config{})
	for n := range 3 {
		mustWrite(t, s, record(nib.LevelInfo, n, 0))
		checkNumbers(t, text(t, path), n+1)
	}
	checkIdentity(t, s, 3)
}

func TestCloseTwiceAndWriteAfterClose(t *testing.T) {
	for _, v := range variants {
		path := filepath.Join(t.TempDir(), "app.log")
		s := open(t, path, v.c)
		writeNumbers(t, s, 0, 2)
		must(t, s.Close(), s.Close())
		for _, l := range []nib.Level{nib.LevelInfo, nib.LevelInfo, nib.LevelError} {
			if err := s.WriteRecord(record(l, 9, 0)); err != errClosed {
				t.Errorf("%s: got %v, want errClosed", v.name, err)
			}
		}
		if err := errors.Join(s.Flush(context.Background())); err != nil {
			t.Errorf("%s: Flush: %v", v.name, err)
		}
		if s.Rotate() != errClosed || s.Reopen() != errClosed {
			t.Errorf("%s: Rotate or Reopen after Close: got another error than errClosed", v.name)
		}
		checkNumbers(t, text(t, path), 2)
		checkIdentity(t, s, 5)
		if st := s.Stats(); count(st, delivery.ReasonClosed, nib.LevelInfo) != 2 || count(st, delivery.ReasonClosed, nib.LevelError) != 1 {
			t.Errorf("%s: got %+v, want 2 infos and 1 error dropped as closed", v.name, st)
		}
	}
}

func TestOpenErrorsNameThePathOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "app.log")
	_, err := Open(path, Config{})
	if !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), path) != 1 {
		t.Errorf("got %v, want one that says once that the directory of %s does not exist", err, path)
	}
}
