// SPDX-License-Identifier: Apache-2.0

package nibslog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/nib-log/nib/nibslog"
)

// A culprit is an error and a value whose methods run do.
type culprit struct{ do func() }

func (c *culprit) Error() string                { c.do(); return "text" }
func (c *culprit) LogValue() slog.Value         { c.do(); return slog.StringValue("text") }
func (c *culprit) MarshalJSON() ([]byte, error) { c.do(); return nil, c }

// Only the method Error of a noMethod is called.
type noMethod struct{ do func() }

func (c *noMethod) Error() string { c.do(); return "text" }

// returning returns an error from its own method.
type returning struct{ err error }

func (r returning) MarshalJSON() ([]byte, error) { return nil, r.err }

// cyclic is a value that package fmt would follow until the stack is full.
func cyclic() any {
	m := map[string]any{}
	m["m"], m["n"] = m, m
	return m
}

// eachKind returns one of each kind; do runs in ReplaceAttr.
func eachKind(b *bytes.Buffer, do func()) map[string]slog.Handler {
	return map[string]slog.Handler{
		"plain": nibslog.NewJSONHandler(b, nil),
		"kept":  nibslog.NewJSONHandler(b, &slog.HandlerOptions{ReplaceAttr: keep}),
		"replaced": nibslog.NewJSONHandler(b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == "k" {
				do()
			}
			return a
		}}),
	}
}

func TestWhatUserCodeThrowsOrReturnsMayFailToo(t *testing.T) {
	var nilCulprit *noMethod
	for name, do := range map[string]func(){
		"text": func() { panic("boom") }, "cyclic map": func() { panic(cyclic()) },
		"bad error":    func() { panic(&noMethod{func() { panic("boom") }}) },
		"worse error":  func() { panic(&noMethod{func() { panic(&noMethod{func() { panic("inner") }}) }}) },
		"no formatter": func() { panic(struct{ V any }{cyclic()}) },
	} {
		for value, v := range map[string]any{
			"LogValue": &culprit{do}, "error": &noMethod{do}, "MarshalJSON returns": returning{&noMethod{do}},
			"typed nil": returning{nilCulprit}, "plain": 1,
		} {
			var b bytes.Buffer
			for kind, h := range eachKind(&b, do) {
				for way, log := range map[string]func(){
					"Handle": func() { slog.New(h).Info("m", "k", v) },
					"With":   func() { slog.New(h).With("k", v).WithGroup("g").Info("m", "l", v) },
				} {
					b.Reset()
					log()
					if line := b.Bytes(); !json.Valid(line) || bytes.Count(line, []byte{'\n'}) != 1 || !strings.Contains(b.String(), `"msg":"m"`) {
						t.Errorf("%s, %s, %s, %s: got %q", name, value, kind, way, line)
					}
				}
			}
		}
	}
}

func TestReplaceAttrThatLogsEnds(t *testing.T) {
	var b bytes.Buffer
	var l *slog.Logger
	l = slog.New(nibslog.NewJSONHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.MessageKey {
			l.Info("inner")
		}
		return a
	}}))
	l.Info("outer")
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("got %q", line)
		}
	}
	if n := len(lines); n < 2 || n > 50 || !strings.Contains(lines[n-1], "outer") {
		t.Errorf("got %d lines: %q", n, lines)
	}
}

// A value that contains itself twice has 2 to the 32 paths down to the limit.
func TestLogValuersThatContainThemselvesTwiceEnd(t *testing.T) {
	var b bytes.Buffer
	for kind, h := range eachKind(&b, func() {}) {
		b.Reset()
		slog.New(h).Info("m", "k", twoOfMe{}, "after", slog.GroupValue(slog.Group("g", slog.Int("n", 1))))
		if line := b.String(); !json.Valid(b.Bytes()) || !strings.Contains(line, "!ERROR: nested") || !strings.Contains(line, `"after":{"g":{"n":1}}`) {
			t.Errorf("%s: got %.1000q", kind, line)
		}
	}
}

type twoOfMe struct{}

func (v twoOfMe) LogValue() slog.Value { return slog.GroupValue(slog.Any("a", v), slog.Any("b", v)) }

func TestUserCodeThatEndsTheGoroutineLeavesTheHandlerUsable(t *testing.T) {
	var b bytes.Buffer
	for kind, h := range eachKind(&b, runtime.Goexit) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			slog.New(h).Info("lost", "k", &culprit{runtime.Goexit})
		}()
		<-done
		b.Reset()
		if err := h.Handle(context.Background(), slog.Record{Message: "next"}); err != nil || !json.Valid(b.Bytes()) {
			t.Errorf("%s: got %v, %q", kind, err, b.Bytes())
		}
	}
}

func TestLineOfReplaceAttrThatEndsTheGoroutineIsCounted(t *testing.T) {
	var b bytes.Buffer
	h := nibslog.NewJSONHandler(&b, &slog.HandlerOptions{ReplaceAttr: func([]string, slog.Attr) slog.Attr {
		runtime.Goexit()
		return slog.Attr{}
	}})
	done := make(chan struct{})
	go func() {
		defer close(done)
		slog.New(h).Info("lost")
	}()
	<-done
	if st := h.Stats(); b.Len() > 0 || st.Aborted != 1 {
		t.Errorf("got %q and %+v, want no line and 1 aborted", b.Bytes(), st)
	}
}

func TestWithAttrsThatEndsTheGoroutineIsCounted(t *testing.T) {
	for name, opts := range map[string]*slog.HandlerOptions{
		"without ReplaceAttr": nil,
		"with ReplaceAttr":    {ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr { return a }},
	} {
		var b bytes.Buffer
		h := nibslog.NewJSONHandler(&b, opts)
		done := make(chan struct{})
		go func() {
			defer close(done)
			h.WithAttrs([]slog.Attr{slog.Any("k", &culprit{runtime.Goexit})})
		}()
		<-done
		if st := h.Stats(); st.Aborted != 1 {
			t.Errorf("%s: got %+v, want 1 aborted", name, st)
		}
		slog.New(h.WithAttrs([]slog.Attr{slog.Int("a", 1)})).Info("next")
		if !strings.Contains(b.String(), `"a":1`) {
			t.Errorf("%s: got %q, want a line with the attribute", name, b.Bytes())
		}
	}
}
