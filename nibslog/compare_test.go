// SPDX-License-Identifier: Apache-2.0

package nibslog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/nibslog"
)

type member = recordtest.Member

// normalise applies the documented differences to slog's line: a reserved
// top-level key has its prefix, errors have a blank, a panic in LogValue is a
// panic, floats without a number are strings. It also removes objects without
// members, since slog writes them for groups that turn out to be empty; nib's
// line is normalised for that reason only.
func normalise(object []member, builtin int, reserved []string) []member {
	out := []member{}
	for i, m := range object {
		if i >= builtin && slices.Contains(reserved, m.Key) {
			m.Key = "field." + m.Key
		}
		switch v := m.Value.(type) {
		case string:
			m.Value = normaliseText(v)
		case []member:
			if v = normalise(v, 0, nil); len(v) == 0 {
				continue
			}
			m.Value = v
		}
		out = append(out, m)
	}
	return out
}

func normaliseText(s string) string {
	switch {
	case strings.HasPrefix(s, "!ERROR:json: unsupported value: "):
		return strings.TrimPrefix(s, "!ERROR:json: unsupported value: ")
	case strings.HasPrefix(s, "!ERROR:"):
		s = strings.Replace(s, " for type *", " for type ", 1) // slog of Go 1.27 encodes pointers to values
		return "!ERROR: " + strings.TrimPrefix(s[len("!ERROR:"):], " ")
	case strings.HasPrefix(s, "LogValue panicked\n"):
		return "!PANIC: LogValue"
	case strings.HasPrefix(s, "LogValue called too many times"):
		return "!ERROR: LogValue was called too often"
	}
	return s
}

// A step derives a logger from another one.
type step struct {
	group string // WithGroup, if not empty
	attrs []slog.Attr
}

// A trial is the input of both handlers.
type trial struct {
	options slog.HandlerOptions
	steps   []step
	time    time.Time
	level   slog.Level
	message string
	pc      uintptr
	attrs   []slog.Attr
}

func (c *trial) run(h slog.Handler, steps []step, attrs []slog.Attr) {
	for _, s := range steps {
		if s.group != "" {
			h = h.WithGroup(s.group)
		} else {
			h = h.WithAttrs(s.attrs)
		}
	}
	r := slog.NewRecord(c.time, c.level, c.message, c.pc)
	r.AddAttrs(attrs...)
	if err := h.Handle(context.Background(), r); err != nil {
		panic(err)
	}
}

// errSlog means that slog's line is not JSON: slog omits the comma behind a
// group whose attributes have all turned out to be empty.
var errSlog = errors.New("slog's line is not valid JSON")

// compare reports how nib's line differs from slog's.
func (c *trial) compare() error {
	var base, want, got bytes.Buffer
	c.run(slog.NewJSONHandler(&base, &c.options), nil, nil)
	c.run(slog.NewJSONHandler(&want, &c.options), c.steps, c.attrs)
	c.run(nibslog.NewJSONHandler(&got, &c.options), c.steps, c.attrs)
	head, err := recordtest.Members(base.Bytes())
	if err != nil {
		return fmt.Errorf("slog's built-in attributes: %w\n%s", err, base.Bytes())
	}
	g, err := recordtest.Members(got.Bytes())
	if err != nil {
		return fmt.Errorf("nib: %w\n%s", err, got.Bytes())
	}
	w, err := recordtest.Members(want.Bytes())
	if err != nil {
		return errSlog
	}
	reserved := []string{slog.TimeKey, slog.LevelKey, slog.MessageKey}
	if c.options.AddSource {
		reserved = append(reserved, slog.SourceKey)
	}
	if c.options.ReplaceAttr != nil {
		reserved = nil
		for _, m := range normalise(head, len(head), nil) {
			reserved = append(reserved, m.Key)
		}
	}
	w, g = normalise(w, len(head), reserved), normalise(g, len(g), nil)
	if !reflect.DeepEqual(w, g) {
		return fmt.Errorf("got  %s%+v\nwant %s%+v", got.Bytes(), g, want.Bytes(), w)
	}
	return nil
}

func TestLinesAreThoseOfSlog(t *testing.T) {
	n := seed.Times(500_000, 10_000, 5_000)
	t.Logf("%d random cases", n)
	skipped := 0
	rnd := rand.New(rand.NewPCG(seed.Of(t), 7))
	for i := range n {
		data := make([]byte, 8+rnd.IntN(120))
		for j := range data {
			data[j] = byte(rnd.Uint32())
		}
		c := newTrial(data)
		if err := c.compare(); err == errSlog {
			skipped++
		} else if err != nil {
			t.Fatalf("case %d, input %x: %v", i, data, err)
		}
	}
	t.Logf("%d could not be compared: %v", skipped, errSlog)
	if skipped > n/10 {
		t.Errorf("got %d that could not be compared, want less than a tenth", skipped)
	}
}

func FuzzLinesAreThoseOfSlog(f *testing.F) {
	rnd := rand.New(rand.NewChaCha8([32]byte{8}))
	for range 64 {
		data := make([]byte, 100)
		for j := range data {
			data[j] = byte(rnd.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := newTrial(data)
		if err := c.compare(); err != nil && err != errSlog {
			t.Fatal(err)
		}
	})
}
