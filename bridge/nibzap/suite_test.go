// SPDX-License-Identifier: Apache-2.0

package nibzap_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/nibzap"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/must"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// A newCore makes a core with a level that writes JSON with the keys level,
// logger and msg to w.
type newCore func(level zapcore.Level, w io.Writer) zapcore.Core

// zap has no suite for implementations of zapcore.Core, so this one also runs
// on zap's own.
func TestCoreSuite(t *testing.T) {
	t.Run("nib", func(t *testing.T) {
		testCore(t, func(level zapcore.Level, w io.Writer) zapcore.Core {
			l := nibLayout()
			l.TimeKey = nib.OmitKey
			at := nib.WithLevel(nibzap.LevelOf(level))
			return nibzap.NewCore(nib.New(w, nib.WithLayout(l), at))
		})
	})
	t.Run("zap", func(t *testing.T) {
		testCore(t, func(level zapcore.Level, w io.Writer) zapcore.Core {
			c := zapConfig()
			c.TimeKey = ""
			return zapcore.NewCore(zapcore.NewJSONEncoder(c), zapcore.Lock(zapcore.AddSync(w)), level)
		})
	})
}

func testCore(t *testing.T, make newCore) {
	t.Run("Check agrees with Enabled", func(t *testing.T) { testCheck(t, make) })
	t.Run("Write does not compare levels", func(t *testing.T) { testWrite(t, make) })
	t.Run("With leaves its parent and siblings alone", func(t *testing.T) { testWith(t, make) })
	t.Run("nothing of the arguments is kept", func(t *testing.T) { testKept(t, make) })
	t.Run("cores around it", func(t *testing.T) { testWrapped(t, make) })
	t.Run("goroutines", func(t *testing.T) { testGoroutines(t, make) })
}

var levels = []zapcore.Level{zap.DebugLevel, zap.InfoLevel, zap.WarnLevel, zap.ErrorLevel, zap.DPanicLevel, zap.PanicLevel, zap.FatalLevel}

// ends reports whether all of got is one line that ends in want.
func ends(t *testing.T, what string, got *bytes.Buffer, want string) {
	t.Helper()
	text := got.String()
	got.Reset()
	if want == "" && text != "" || !strings.HasSuffix(text, want+"}\n") && want != "" || strings.Count(text, "\n") > 1 {
		t.Errorf("%s: got %q, want one line that ends in %s", what, text, want)
	}
}

func testCheck(t *testing.T, make newCore) {
	for _, at := range levels {
		var own, other bytes.Buffer
		c := make(at, &own)
		for _, level := range levels {
			ent := zapcore.Entry{Level: level, Message: "m"}
			if got := c.Enabled(level); got != (level >= at) {
				t.Errorf("%v at %v: got enabled %v", level, at, got)
			}
			ce := c.Check(ent, nil)
			if (ce != nil) != c.Enabled(level) {
				t.Errorf("%v at %v: Check returns %v", level, at, ce)
			}
			// Fields that other cores have added stay.
			both := c.Check(ent, make(zap.DebugLevel, &other).Check(ent, nil))
			if own.Len()+other.Len() > 0 {
				t.Fatal("Check has written")
			}
			if level >= zap.DPanicLevel {
				continue // Write would panic or end the process
			}
			both.Write(zap.Int("n", 1))
			if other.Len() == 0 || (own.Len() > 0) != c.Enabled(level) {
				t.Errorf("%v at %v: got %q and %q", level, at, &own, &other)
			}
			own.Reset()
			other.Reset()
		}
	}
}

func testWrite(t *testing.T, make newCore) {
	var b bytes.Buffer
	c := make(zap.ErrorLevel, &b)
	if err := c.Write(zapcore.Entry{Level: zap.DebugLevel, Message: "m"}, []zapcore.Field{zap.Int("n", 1)}); err != nil {
		t.Error(err)
	}
	if text := b.String(); !strings.Contains(text, `"debug"`) || !strings.Contains(text, `"n":1`) {
		t.Errorf("got %q", text)
	}
	if err := c.Sync(); err != nil {
		t.Error(err)
	}
}

func testWith(t *testing.T, make newCore) {
	var b bytes.Buffer
	write := func(c zapcore.Core, fields ...zapcore.Field) {
		_ = c.Write(zapcore.Entry{Message: "m"}, fields)
	}
	root := make(zap.InfoLevel, &b)
	parent := root.With([]zapcore.Field{zap.Int("a", 1)})
	first := parent.With([]zapcore.Field{zap.Namespace("in"), zap.Int("b", 2)})
	second := parent.With([]zapcore.Field{zap.Int("c", 3)})
	empty := second.With(nil)
	write(root)
	ends(t, "root", &b, `"msg":"m"`)
	write(parent, zap.Int("z", 0))
	ends(t, "parent", &b, `"msg":"m","a":1,"z":0`)
	write(first, zap.Int("z", 0))
	ends(t, "namespace", &b, `"msg":"m","a":1,"in":{"b":2,"z":0}`)
	write(second, zap.Int("z", 0))
	ends(t, "sibling", &b, `"msg":"m","a":1,"c":3,"z":0`)
	write(empty)
	ends(t, "no more fields", &b, `"msg":"m","a":1,"c":3`)
	if parent.Enabled(zap.DebugLevel) || !parent.Enabled(zap.InfoLevel) {
		t.Error("With has changed the level")
	}
}

func testKept(t *testing.T, make newCore) {
	var b bytes.Buffer
	text := []byte("before")
	fields := []zapcore.Field{zap.ByteString("k", text), zap.Int("n", 1)}
	c := make(zap.InfoLevel, &b).With(fields)
	ce := c.Check(zapcore.Entry{Message: "m"}, nil)
	copy(text, "BEHIND")
	fields[1] = zap.Int("n", 2)
	ce.Write()
	ends(t, "With", &b, `"msg":"m","k":"before","n":1`)

	text = []byte("before")
	fields = []zapcore.Field{zap.ByteString("k", text)}
	_ = c.Write(zapcore.Entry{Message: "m"}, fields)
	copy(text, "BEHIND")
	fields[0] = zap.Error(errors.New("other"))
	ends(t, "Write", &b, `"msg":"m","k":"before","n":1,"k":"before"`)
}

// A core must not be unwrapped by the cores around it, nor lose them.
func testWrapped(t *testing.T, make newCore) {
	var b bytes.Buffer
	hooked := 0
	c := make(zap.DebugLevel, &b)
	increased, err := zapcore.NewIncreaseLevelCore(c, zap.WarnLevel)
	must.Succeed(t, err)
	for _, tt := range []struct {
		name    string
		core    zapcore.Core
		written int // of four lines, two of them of info
	}{
		{"alone", c, 4},
		{"sampler", zapcore.NewSamplerWithOptions(c, time.Hour, 1, 0), 2},
		{"lazy", zapcore.NewLazyWith(c, []zapcore.Field{zap.Int("lazy", 1)}), 4},
		{"hooks", zapcore.RegisterHooks(c, func(zapcore.Entry) error { hooked++; return nil }), 4},
		{"increased level", increased, 2},
		{"tee", zapcore.NewTee(c, zapcore.NewNopCore()), 4},
	} {
		l := zap.New(tt.core).With(zap.Int("a", 1)).Named("db")
		for range 2 {
			l.Info("info", zap.Int("z", 0))
			l.Error("error", zap.Int("z", 0))
		}
		if got := strings.Count(b.String(), `"a":1,"z":0}`+"\n"); got != tt.written || strings.Count(b.String(), `"logger":"db"`) != got {
			t.Errorf("%s: got %d lines, want %d:\n%s", tt.name, got, tt.written, &b)
		}
		if tt.name == "lazy" && strings.Count(b.String(), `"lazy":1,"a":1`) != tt.written {
			t.Errorf("the lazy fields are missing:\n%s", &b)
		}
		b.Reset()
	}
	if hooked != 4 {
		t.Errorf("the hook ran %d times, want 4", hooked)
	}
}

func testGoroutines(t *testing.T, make newCore) {
	var b bytes.Buffer
	c := make(zap.InfoLevel, &b)
	const goroutines, lines = 8, 200
	await.Goroutines(goroutines, func(g int) {
		own := c.With([]zapcore.Field{zap.Int("g", g)})
		for i := range lines {
			ent := zapcore.Entry{Message: "m", LoggerName: fmt.Sprintf("n%d", i%3)}
			if ce := own.Check(ent, nil); ce != nil {
				ce.Write(zap.Int("i", i))
			}
		}
	})
	for g := range goroutines {
		for i := range lines {
			if want := fmt.Sprintf(`"logger":"n%d","msg":"m","g":%d,"i":%d}`+"\n", i%3, g, i); strings.Count(b.String(), want) != 1 {
				t.Fatalf("got %d times %s", strings.Count(b.String(), want), want)
			}
		}
	}
}
