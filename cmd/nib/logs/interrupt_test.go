// SPDX-License-Identifier: Apache-2.0

package logs_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/nib-log/nib/cmd/nib/logs"
)

// A closedPipe is a writer whose reader has gone.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// With the race detector: a decoder is not closed while another goroutine reads
// from it.
func TestCatEndsInTheMiddleOfCompressedFiles(t *testing.T) {
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	lines := e.EncodeAll(bytes.Repeat([]byte("a line of a log\n"), 1<<17), nil)
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{"app.log.2.zst", "app.log.1.zst"} {
		paths = append(paths, filepath.Join(dir, name))
		put(t, paths[len(paths)-1], string(lines))
	}
	for range 20 {
		sources, err := logs.Find(paths, nil, false, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := logs.Cat(t.Context(), closedPipe{}, sources, logs.Selection{}, rawLines(t)); !errors.Is(err, io.ErrClosedPipe) {
			t.Fatal(err)
		}
	}
}

// Files that cannot be read to their ends do not hide the files after them.
func TestDamagedFilesDoNotHideNewerOnes(t *testing.T) {
	dir := t.TempDir()
	pack := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(text)) // a buffer accepts it
		_ = w.Close()
		return b.String()
	}
	whole := pack("one\ntwo\nthree\n")
	names := []string{"app.log.4.gz", "app.log.3.gz", "app.log.2.gz", "app.log.1", "app.log"}
	var paths []string
	for i, text := range []string{whole[:5], whole[:len(whole)-8], pack("four\n"), "gone\n", "five"} {
		paths = append(paths, filepath.Join(dir, names[i]))
		put(t, paths[i], text)
	}
	sources, err := logs.Find(paths, nil, false, time.Now())
	if err != nil || len(sources) != 1 {
		t.Fatal(sources, err)
	}
	if err := os.Remove(paths[3]); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	counts, err := logs.Cat(t.Context(), &out, sources, logs.Selection{}, rawLines(t))
	if got := out.String(); got != "one\ntwo\nthree\nfour\nfive\n" || counts.Matched != 5 {
		t.Errorf("got %q, %+v", got, counts)
	}
	for _, name := range []string{names[0], names[1], names[3]} {
		if err == nil || strings.Count(err.Error(), name+":") != 1 {
			t.Errorf("got the error %v, want one of %s", err, name)
		}
	}
	if !errors.Is(err, os.ErrNotExist) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
}

// Lines were selected, whether or not their reader wanted all of them.
func TestCatCountsTheLinesUpToAClosedPipe(t *testing.T) {
	for _, files := range [][]string{{"a.log"}, {"a.log", "b.log"}} {
		var paths []string
		dir := t.TempDir()
		for _, name := range files {
			paths = append(paths, filepath.Join(dir, name))
			put(t, paths[len(paths)-1], "a line\n")
		}
		sources, err := logs.Find(paths, nil, false, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		counts, err := logs.Cat(t.Context(), closedPipe{}, sources, logs.Selection{}, rawLines(t))
		if counts.Matched == 0 || !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%q: got %+v, %v", files, counts, err)
		}
	}
}
