// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"io"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/jsonenc"
)

type noSamples struct{}

func (noSamples) Sample(nib.Level) bool { return false }

func TestAtDepthIsSampledButNotCompared(t *testing.T) {
	l, c := newCapture(t, nib.WithLevel(nib.LevelError), nib.WithClock(func() time.Time { return time.Unix(0, 0) }))
	l.Named("n").AtDepth(nib.LevelDebug-1, 0).Int("a", 1).Msg("m")
	l.WithOptions(nib.WithSampler(noSamples{})).AtDepth(nib.LevelFatal, 0).Msg("m")
	(*nib.Logger)(nil).AtDepth(nib.LevelFatal, 0).Msg("m")
	lines := c.take()
	if len(lines) != 1 {
		t.Fatalf("got %d lines, want 1", len(lines))
	}
	for key, want := range map[string]string{"time": "1970-01-01T00:00:00.000Z", "level": "trace+3", "logger": "n", "message": "m"} {
		if got := lines[0].get(key); got == nil || got.text != want {
			t.Errorf("%s: got %v, want %s", key, got, want)
		}
	}
}

func TestAtDepthDoesNotAllocate(t *testing.T) {
	l := nib.New(discardWriter{}, nib.WithCaller())
	alloctest.Zero(t, func() { l.AtDepth(nib.LevelInfo, 0).Str("a", "b").Msg("m") })
}

func TestTheStackOfAnEntryIsTheStackOfTheLine(t *testing.T) {
	l, c := newCapture(t, nib.WithStack(nib.LevelError))
	l.WithGroup("g").Entry(nib.Entry{Level: nib.LevelError, Message: "m", Stack: "main.main\n\tmain.go:1"}).Str("stack", "b").Send()
	l.WithOptions(nib.WithLayout(nib.Layout{StackKey: nib.OmitKey})).Entry(nib.Entry{Message: "m", Stack: "x"}).Send()
	lines := c.take()
	if got := lines[0].get("stack"); got == nil || got.text != "main.main\n\tmain.go:1" {
		t.Errorf("got %v, want the stack of the entry", got)
	}
	if got := lines[1].get("stack"); got != nil {
		t.Errorf("got %v with OmitKey, want none", got)
	}
}

// Send within a function that adds fields is ignored: the Entry keeps its
// message.
func TestSendWithinAFunctionLeavesTheMessageOfAnEntry(t *testing.T) {
	l, c := newCapture(t, nib.WithErrorHandler(func(error) {}))
	l.Entry(nib.Entry{Message: "m"}).Func(func(e *nib.Event) { e.Send() }).Send()
	if line := c.one(); line.get("message").String() != `"m"` {
		t.Errorf("got %s", line)
	}
}

// TestFinishedEntryDoesNotKeepItsMessage finishes entries in other ways than
// with Send: the event goes back to the pool without the message.
func TestFinishedEntryDoesNotKeepItsMessage(t *testing.T) {
	l := nib.New(io.Discard)
	for name, finish := range map[string]func(*nib.Event){
		"Send":    (*nib.Event).Send,
		"Msg":     func(e *nib.Event) { e.Msg("other") },
		"Msgf":    func(e *nib.Event) { e.Msgf("other %d", 1) },
		"MsgFunc": func(e *nib.Event) { e.MsgFunc(func() string { return "other" }) },
	} {
		message := logEntry(l, finish)
		runtime.GC()
		if message.Value() != nil {
			t.Errorf("%s: the message is still in memory", name)
		}
	}
}

//go:noinline
func logEntry(l *nib.Logger, finish func(*nib.Event)) weak.Pointer[byte] {
	message := make([]byte, 1<<20)
	finish(l.Entry(nib.Entry{Message: jsonenc.View(message)}))
	return weak.Make(&message[0])
}
