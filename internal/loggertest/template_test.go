// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
)

type access struct {
	Method string        `json:"method"`
	Path   string        `json:"path"`
	Status int           `json:"status"`
	Size   int64         `json:"size"`
	Cached bool          `json:"cached"`
	Took   time.Duration `json:"took_ms" log:"unit=ms"`
}

var (
	accessLine = nib.NewTemplate[access](nib.LevelInfo, "request served")
	anAccess   = access{"GET", "/orders", 200, 512, true, 1500 * time.Microsecond}
)

const accessFields = `"method":"GET","path":"/orders","status":200,"size":512,"cached":true,"took_ms":1.5`

func TestLineIsTheStructAsALine(t *testing.T) {
	hook := nib.HookFunc(func(e *nib.Event, level nib.Level, msg string) { e.Str("hook", level.String()+" "+msg) })
	for name, x := range map[string]struct {
		logger func(l *nib.Logger) *nib.Logger
		want   string
	}{
		"plain": {func(l *nib.Logger) *nib.Logger { return l }, `{"level":"info",` + accessFields + `,"message":"request served"}`},
		"bound and named": {func(l *nib.Logger) *nib.Logger {
			return l.Named("http").With(func(e *nib.Event) { e.Int("bound", 1) })
		}, `{"level":"info","logger":"http","bound":1,` + accessFields + `,"message":"request served"}`},
		"group": {func(l *nib.Logger) *nib.Logger { return l.WithGroup("g") },
			`{"level":"info","g":{` + accessFields + `},"message":"request served"}`},
		"hook": {func(l *nib.Logger) *nib.Logger { return l.WithOptions(nib.WithHook(hook)) },
			`{"level":"info",` + accessFields + `,"hook":"info request served","message":"request served"}`},
		"message first": {func(l *nib.Logger) *nib.Logger {
			return l.WithOptions(nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey, MessageFirst: true}))
		}, `{"level":"info","message":"request served",` + accessFields + `}`},
		"reserved key": {func(l *nib.Logger) *nib.Logger {
			return l.WithOptions(nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey, MessageKey: "path"}))
		}, strings.Replace(`{"level":"info",`+accessFields, `"path"`, `"field.path"`, 1) + `,"path":"request served"}`},
		"no message": {func(l *nib.Logger) *nib.Logger {
			return l.WithOptions(nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey, MessageKey: nib.OmitKey}))
		}, `{"level":"info",` + accessFields + `}`},
		"level off": {func(l *nib.Logger) *nib.Logger { return l.WithOptions(nib.WithLevel(nib.LevelWarn)) }, ``},
	} {
		var buf bytes.Buffer
		l := x.logger(nib.New(&buf, nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey})))
		for range 2 { // the second uses the first one's cache
			buf.Reset()
			accessLine.Log(context.Background(), l, &anAccess)
			if got := strings.TrimSpace(buf.String()); got != x.want {
				t.Errorf("%s\n got %s\nwant %s", name, got, x.want)
			}
		}
	}
}

func TestTemplateRecordHasMessageAndCaller(t *testing.T) {
	calls := 0
	l := nib.NewSink(sinkFunc(func(r *nib.Record) error {
		calls++
		if got := string(r.Message); got != "request served" || r.Level != nib.LevelInfo {
			t.Errorf("got message %q, level %v", got, r.Level)
		}
		if caller, ok := r.Lookup("caller"); ok && !strings.Contains(string(caller), "template_test.go:") {
			t.Errorf("got caller %s", caller)
		}
		return nil
	}))
	var none context.Context // allowed here
	accessLine.Log(none, l, &anAccess)
	accessLine.Log(context.Background(), l.WithOptions(nib.WithCaller()), &anAccess)
	if calls != 2 {
		t.Errorf("got %d lines, want 2", calls)
	}
}

func TestLineTakesFieldsFromTheContext(t *testing.T) {
	var buf bytes.Buffer
	l := timeless(&buf).WithOptions(nib.WithContextFields(func(_ context.Context, e *nib.Event) { e.Str("trace", "t1") }))
	logOnce(l, nib.LevelWarn, "m", &plainBuyer{"Ada"})
	if got, want := buf.String(), `{"level":"warn","trace":"t1","name":"Ada","message":"m"}`+"\n"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestLineShowsWhatItsMarshalersDo(t *testing.T) {
	type columns struct {
		J jsonValue
		P panicky
	}
	var buf bytes.Buffer
	logOnce(timeless(&buf), nib.LevelInfo, "m", &columns{})
	if got, want := buf.String(), `{"level":"info","error":"!PANIC: no JSON today","message":"m"}`+"\n"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestNewTemplatePanicsOnWhatIsNoStruct(t *testing.T) {
	for name, f := range map[string]func(){
		"not a struct": func() { nib.NewTemplate[int](nib.LevelInfo, "m") },
		"channel":      func() { nib.NewTemplate[struct{ C chan int }](nib.LevelInfo, "m") },
		"tag": func() {
			nib.NewTemplate[struct {
				D int `log:"unit=year"`
			}](nib.LevelInfo, "m")
		},
	} {
		func() {
			defer func() {
				if p, _ := recover().(string); !strings.HasPrefix(p, "nib: NewTemplate") {
					t.Errorf("%s: got %q, want a panic that begins with nib: NewTemplate", name, p)
				}
			}()
			f()
		}()
	}
}

func TestTemplatesDoNotAllocate(t *testing.T) {
	l := nib.New(io.Discard)
	caller := nib.New(io.Discard, nib.WithCaller())
	off := nib.New(io.Discard, nib.WithLevel(nib.LevelError))
	ctx := context.Background()
	n := 200
	for name, f := range map[string]func(){
		"on the stack": func() { accessLine.Log(ctx, l, &access{Method: "GET", Status: n}) },
		"caller":       func() { accessLine.Log(ctx, caller, &access{Method: "GET", Status: n}) },
		"off":          func() { accessLine.Log(ctx, off, &access{Method: "GET", Status: n}) },
	} {
		t.Run(name, func(t *testing.T) { alloctest.Zero(t, f) })
	}
}
