// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nib-log/nib/allocs/internal/progress"
)

// fakeBar returns a bar with a fake clock. columns is 0 for a writer that is
// not a terminal.
func fakeBar(columns int) (b *bar, out *bytes.Buffer, now *time.Time) {
	out, now = new(bytes.Buffer), new(time.Time)
	*now = time.Unix(1000, 0)
	b = &bar{w: out, now: func() time.Time { return *now }, stopped: make(chan struct{})}
	if columns > 0 {
		b.width = func() int { return columns }
	}
	b.start()
	return b, out, now
}

var measuring = progress.Event{Toolchain: "go1.26.8", Stage: progress.Measure, Subject: "shop.example/orders/internal/httpapi", Done: 0.5}

func TestBarFitsTheTerminal(t *testing.T) {
	for _, c := range []struct {
		columns int
		want    string
	}{
		{120, "━━━━━━━━━━━━────────────   50 %  1:23  go1.26.8  measuring shop.example/orders/internal/httpapi"},
		{80, "━━━━━━━━━━━━────────────   50 %  1:23  go1.26.8  measuring…ers/internal/httpapi"},
		{40, " 50 %  1:23  go1.26.8  me…ernal/httpapi"},
		{12, " 50 %  1:23"},
		{8, " 50…:23"},
		{0, "━━━━━━━━━━━━────────────   50 %  1:23  go1.26.8  measuring…ers/internal/httpapi"},
	} {
		b, _, now := fakeBar(80)
		b.event = measuring
		*now = now.Add(83 * time.Second)
		got := b.line(c.columns)
		if got != c.want {
			t.Errorf("%d columns: got\n%q, want\n%q", c.columns, got, c.want)
		}
		if n := utf8.RuneCountInString(got); c.columns > 0 && n >= c.columns {
			t.Errorf("%d columns: got %d", c.columns, n)
		}
	}
}

func TestBarIsOneLineThatGoesAway(t *testing.T) {
	b, out, now := fakeBar(80)
	b.tell(measuring)
	b.draw() // nothing has changed: nothing is written
	first := out.Len()
	*now = now.Add(time.Second)
	b.draw()
	if out.Len() == first {
		t.Error("the time does not go on within a stage")
	}
	b.stop()
	b.draw()
	b.stop()
	got := out.String()
	if strings.Contains(got, "\n") || !strings.HasPrefix(got, "\r━") || !strings.HasSuffix(got, "\r\x1b[K") || strings.Count(got, "\r") != 3 {
		t.Errorf("got %q, want one line, written over twice and taken away", got)
	}
}

func TestLogGetsALineNowAndThen(t *testing.T) {
	b, out, now := fakeBar(0)
	for i := range 20 {
		e := measuring
		e.Done = float64(i) / 20
		b.tell(e)
		*now = now.Add(2 * time.Second)
	}
	b.stop()
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 6 || lines[0] != "allocs:  15 %  0:06  go1.26.8  measuring shop.example/orders/internal/httpapi" {
		t.Errorf("got %d lines\n%s\nwant 6: one each six seconds", len(lines), out)
	}
	if strings.ContainsAny(out.String(), "\r\x1b") {
		t.Errorf("got %q, want no control characters", out)
	}
}

func TestShortRunsAndPlainOnesShowNoProgress(t *testing.T) {
	b, out, _ := fakeBar(0)
	b.tell(measuring)
	b.stop()
	none := newBar(out, true, true)
	none.tell(measuring)
	none.stop()
	if out.Len() > 0 {
		t.Errorf("got %q, want nothing", out)
	}
}

var escape = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")

func TestColoursTakeNoRoom(t *testing.T) {
	b, _, _ := fakeBar(80)
	b.event = measuring
	plain := b.line(80)
	b.color = true
	colored := b.line(80)
	if got := escape.ReplaceAllString(colored, ""); got != plain || colored == plain {
		t.Errorf("got %q, want %q with colours", colored, plain)
	}
}
