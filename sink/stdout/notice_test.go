// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/stdio/stdiotest"
)

func TestNotice(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 30, 0, 123e6, time.FixedZone("", 3600))
	one := func(c cause, l nib.Level, n uint64) (t loss.Tally) {
		t[c][level.Row(int(l))] = n
		return t
	}
	both := one(stalled, nib.LevelInfo, 120)
	both[stalled][level.Row(int(nib.LevelError))] = 3
	mixed := both
	mixed[gone][level.Row(int(nib.LevelInfo))] = 2
	for _, c := range []struct {
		name string
		give loss.Tally
		want string
	}{
		{"one level", one(stalled, nib.LevelTrace, 1), `{"time":"2026-11-21T09:30:00.123Z","level":"warn","dropped":1,"levels":{"trace":1},"reasons":{"stalled":1},"message":"lines lost: standard output was blocked"}`},
		{"two levels", both, `{"time":"2026-11-21T09:30:00.123Z","level":"warn","dropped":123,"levels":{"info":120,"error":3},"reasons":{"stalled":123},"message":"lines lost: standard output was blocked"}`},
		{"two reasons", mixed, `{"time":"2026-11-21T09:30:00.123Z","level":"warn","dropped":125,"levels":{"info":122,"error":3},"reasons":{"stalled":123,"gone":2},"message":"lines lost: standard output could not be written"}`},
	} {
		got := appendNotice(loss.NewNotices(nib.Layout{}), nil, now, c.give)
		if string(got) != c.want+"\n" {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		if !json.Valid(got) {
			t.Errorf("%s: not JSON: %s", c.name, got)
		}
	}
}

func TestLongestNoticeFits(t *testing.T) {
	var lost loss.Tally
	for c := range lost {
		for l := range lost[c] {
			lost[c][l] = math.MaxUint64 / (uint64(causes) * uint64(level.Count))
		}
	}
	got := appendNotice(loss.NewNotices(nib.Layout{}), []byte{'\n'}, time.Now(), lost)
	if len(got) > loss.NoticeSize || !json.Valid(got) {
		t.Errorf("got %d bytes, want at most %d of JSON: %s", len(got), loss.NoticeSize, got)
	}
}

// dropsThree returns the first line behind a loss of three lines.
func dropsThree(t *testing.T, c Config) string {
	t.Helper()
	r, w := stdiotest.Pipe(t)
	c.File = w
	s := New(c)
	s.mu.Lock()
	s.head.dropped[stalled][level.Row(int(nib.LevelInfo))] = 3
	s.trouble = true
	s.mu.Unlock()
	mustWrite(t, s, record(nib.LevelInfo, 1, 0))
	s.Close()
	w.Close()
	text, err := io.ReadAll(r)
	must.Succeed(t, err)
	notice, _, _ := strings.Cut(string(text), "\n")
	return notice
}

func TestNoticeHasTheLayoutOfTheSink(t *testing.T) {
	got := dropsThree(t, Config{Layout: nib.Layout{TimeKey: "ts", MessageKey: "msg"}})
	if want := `,"level":"warn","dropped":3,"levels":{"info":3},"reasons":{"stalled":3},"msg":"lines lost: standard output was blocked"}`; !strings.HasPrefix(got, `{"ts":"`) || !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want a time under ts and %s", got, want)
	}
}

func TestNoticeHasTheViewOfTheSink(t *testing.T) {
	view := func(dst, line []byte) []byte {
		return fmt.Appendf(dst, "%d fields\n", strings.Count(string(line), `":`))
	}
	if got, want := dropsThree(t, Config{View: view}), "8 fields"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := dropsThree(t, Config{View: func([]byte, []byte) []byte { panic("view") }}); !json.Valid([]byte(got)) {
		t.Errorf("the view panics: got %q, want JSON", got)
	}
}
