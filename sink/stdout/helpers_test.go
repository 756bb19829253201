// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
)

// never is a deadline that outlasts a test: a call that waits for it makes the
// test time out.
const never = time.Hour

// record returns a record whose line has a number and at least size bytes.
func record(l nib.Level, n, size int) *nib.Record {
	line := fmt.Appendf(nil, `{"level":%q,"n":%d}`, l, n)
	if pad := size - len(line) - 1; pad > 0 {
		line = fmt.Appendf(line[:len(line)-1], `,"pad":"%s"}`, strings.Repeat("x", max(0, pad-9)))
	}
	return &nib.Record{Level: l, Line: append(line, '\n')}
}

func tempFile(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	must.Succeed(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func content(t *testing.T, f *os.File) string {
	t.Helper()
	text, err := os.ReadFile(f.Name())
	must.Succeed(t, err)
	return string(text)
}

// readUntilClosed closes the writing end and returns the contents of the pipe.
func readUntilClosed(t *testing.T, r, w *os.File) string {
	t.Helper()
	w.Close()
	text, err := io.ReadAll(r)
	must.Succeed(t, err)
	return string(text)
}

// mustWrite logs lines that must not be lost.
func mustWrite(t *testing.T, s *Sink, records ...*nib.Record) {
	t.Helper()
	for _, r := range records {
		if err := s.WriteRecord(r); err != nil {
			t.Fatalf("WriteRecord(%s): %v", r.Line, err)
		}
	}
}

// checkIdentity checks that the counters of the sink add up to the lines
// logged.
func checkIdentity(t *testing.T, s *Sink, logged int) {
	t.Helper()
	st := s.Stats()
	if got := st.Lines + st.Pending + st.Lost(); got != uint64(logged) {
		t.Errorf("written %d + pending %d + dropped %d = %d, want %d logged\n%+v",
			st.Lines, st.Pending, st.Lost(), got, logged, st)
	}
}

var parse = recordtest.Split

// checkStream checks that the reader got the lines and notices that the sink
// counted, and nothing else.
func checkStream(t *testing.T, s *Sink, text string) {
	t.Helper()
	st := s.Stats()
	lines, notices, torn := parse(text)
	if uint64(len(lines)) != st.Lines || uint64(len(notices)) != st.Notices || len(torn) > 0 {
		t.Errorf("the reader got %d lines, %d notices, torn %.200q; counted %+v", len(lines), len(notices), torn, st)
	}
	var reported uint64
	for _, n := range notices {
		reported += n.Dropped
	}
	if reported > st.Lost() {
		t.Errorf("notices report %d lost lines, more than the %d that were lost", reported, st.Lost())
	}
}

// count returns how many lines were dropped for a reason at a level.
func count(st Stats, r delivery.Reason, l nib.Level) uint64 {
	for _, d := range st.Dropped {
		if d.Reason == r && d.Level == l {
			return d.Lines
		}
	}
	return 0
}

// numbers returns the numbers of lines, joined.
func numbers(lines []recordtest.Seen) string {
	var b bytes.Buffer
	for _, l := range lines {
		fmt.Fprintf(&b, "%d ", *l.N)
	}
	return strings.TrimSpace(b.String())
}
