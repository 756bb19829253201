// SPDX-License-Identifier: Apache-2.0

package niblogrus_test

import (
	"errors"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/bridge/niblogrus"
	"github.com/nib-log/nib/internal/must"
	"github.com/sirupsen/logrus"
)

// plainFields are of the types that entries mostly have.
func plainFields() logrus.Fields {
	return logrus.Fields{
		"task_id": "7f3a-19", "method": "GET", "path": "/v1/orders/8731", "status": 200, "size": int64(48231),
		"cached": true, "load": 0.75, "error": errors.New("connection refused"), "took": 1234567 * time.Nanosecond,
		"started": noon, "flags": uint8(3), "nested": logrus.Fields{"a": 1, "b": noon}, "list": []any{1, "a"}, "none": nil,
	}
}

// zero checks that f does not allocate. Before that, f runs often enough for
// the runtime to have cached which types are errors: in one of a thousand type
// switches without a cache entry it allocates one.
func zero(t *testing.T, f func()) {
	t.Helper()
	if alloctest.Enabled {
		for range 30_000 {
			f()
		}
	}
	alloctest.Zero(t, f)
}

func TestFormatDoesNotAllocate(t *testing.T) {
	renamed := topic()
	renamed.Rename = map[string]string{"path": "uri", "size": nib.OmitKey}
	for _, c := range []struct {
		name string
		f    *niblogrus.Formatter
	}{
		{"zero", &niblogrus.Formatter{}},
		{"fixed format", topic()},
		{"renamed", renamed},
		{"Only", &niblogrus.Formatter{Only: []string{"task_id", "list"}}},
		{"Only within DataKey", &niblogrus.Formatter{Only: []string{"task_id", "size"}, DataKey: "data"}},
		{"DataKey", &niblogrus.Formatter{DataKey: "data"}},
		{"error in the way of the layout", &niblogrus.Formatter{Layout: nib.Layout{ErrorKey: "err"}}},
		{"call site in one field", &niblogrus.Formatter{Layout: nib.Layout{CallerKey: "caller"}}},
		{"own call site", &niblogrus.Formatter{Layout: nib.Layout{Caller: func(e *nib.Event, key string, f runtime.Frame) { e.Int(key, f.Line) }}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			with, without := entryOf(plainFields()), entryOf(nil)
			with.Caller = &runtime.Frame{Function: "main.f", File: "/src/app/main.go", Line: 7}
			zero(t, func() {
				with.Buffer.Reset()
				if _, err := c.f.Format(with); err != nil {
					t.Fatal(err)
				}
				with.Time = with.Time.Add(7 * time.Millisecond)
			})
			zero(t, func() {
				without.Buffer.Reset()
				if _, err := c.f.Format(without); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func TestHookDoesNotAllocate(t *testing.T) {
	h := &niblogrus.Hook{Logger: nib.New(io.Discard)}
	e := entryOf(plainFields())
	var pcs [1]uintptr
	runtime.Callers(1, pcs[:])
	frame, _ := runtime.CallersFrames(pcs[:]).Next()
	e.Caller = &frame
	zero(t, func() {
		must.Succeed(t, h.Fire(e))
	})
}

// TestInstallCostsLogrusNothing compares a whole call with a call of a logger
// whose formatter does nothing: only logrus itself allocates.
func TestInstallCostsLogrusNothing(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("this build allocates of its own accord")
	}
	bare := logrus.New()
	bare.SetOutput(io.Discard)
	bare.SetFormatter(nothing{})
	wired := logrus.New()
	niblogrus.Install(wired, nib.New(io.Discard))
	fields := plainFields()
	for range 30_000 {
		wired.WithFields(fields).Info("request handled") // see zero
	}
	want, _ := alloctest.Count(func() { bare.WithFields(fields).Info("request handled") }, 1000)
	got, _ := alloctest.Count(func() { wired.WithFields(fields).Info("request handled") }, 1000)
	if got != want {
		t.Errorf("got %v mallocs, want %v", got, want)
	}
}

type nothing struct{}

func (nothing) Format(*logrus.Entry) ([]byte, error) { return nil, nil }
