// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
)

func newBuffered(w io.Writer) *bufio.Writer { return bufio.NewWriterSize(w, 1<<16) }

// bare leaves out everything that a test does not add.
var bare = nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey, LevelKey: nib.OmitKey})

// A stepWriter handles each call by the next of its steps, and accepts
// everything when none are left.
type stepWriter struct {
	steps []step
	got   []byte
	calls int
}

type step struct {
	take int // bytes written; -1: all
	n    int // count that is returned; -100: the same
	err  error
}

func (w *stepWriter) Write(p []byte) (int, error) {
	w.calls++
	if len(w.steps) == 0 {
		w.got = append(w.got, p...)
		return len(p), nil
	}
	s := w.steps[0]
	w.steps = w.steps[1:]
	take := s.take
	if take < 0 || take > len(p) {
		take = len(p)
	}
	w.got = append(w.got, p[:take]...)
	if s.n == -100 {
		return take, s.err
	}
	return s.n, s.err
}

var errStep = errors.New("step")

func TestShortWritesContinueAndFailedOnesAreCounted(t *testing.T) {
	const one, two = `{"message":"1"}` + "\n", `{"message":"2"}` + "\n"
	for _, x := range []struct {
		name   string
		steps  []step
		want   string
		failed uint64
	}{
		{"all well", nil, one + two, 0},
		{"short without an error", []step{{3, -100, nil}, {5, -100, nil}}, one + two, 0},
		{"short with an error, then well", []step{{3, -100, errStep}}, one + two, 0},
		{"nothing, with an error", []step{{0, -100, errStep}}, two, 1},
		{"nothing, without an error", []step{{0, -100, nil}}, two, 1},
		{"error after some bytes", []step{{3, -100, errStep}, {0, -100, errStep}}, one[:3] + "\n" + two, 1},
		{"error after all bytes", []step{{-1, -100, errStep}}, one + two, 1},
		{"all but the newline", []step{{len(one) - 1, -100, errStep}, {0, -100, errStep}}, one + two, 1},
		{"newline fails once", []step{{3, -100, errStep}, {0, -100, errStep}, {0, -100, errStep}}, one[:3], 2},
		{"negative count", []step{{4, -1, nil}}, one[:4] + "\n" + two, 1},
		{"count above the length", []step{{4, 999, nil}}, one[:4] + "\n" + two, 1},
		{"impossible after a short one", []step{{4, -100, nil}, {2, 999, nil}}, one[:6] + "\n" + two, 1},
	} {
		w := &stepWriter{steps: x.steps}
		c := &capture{tb: t}
		l := nib.New(w, bare, nib.WithErrorHandler(c.fail))
		l.Info().Msg("1")
		l.Info().Msg("2")
		if string(w.got) != x.want || l.Stats().Failed != x.failed || len(c.takeErrors()) != int(x.failed) {
			t.Errorf("%s\n got %q, %+v\nwant %q, %d failed", x.name, w.got, l.Stats(), x.want, x.failed)
		}
	}
}

func TestLineAfterAFailedNewlineIsWhole(t *testing.T) {
	w := &stepWriter{steps: []step{{3, -100, errStep}, {0, -100, errStep}, {0, -100, errStep}}}
	l := nib.New(w, bare, nib.WithErrorHandler(func(error) {}))
	for _, m := range []string{"1", "2", "3"} {
		l.Info().Msg(m)
	}
	if want := "{\"m\n{\"message\":\"3\"}\n"; string(w.got) != want {
		t.Errorf("\n got %q\nwant %q", w.got, want)
	}
}

func TestWriterThatTakesOneByteAtATimeGetsWholeLines(t *testing.T) {
	var got bytes.Buffer
	l := nib.New(writeFunc(func(p []byte) (int, error) { return got.Write(p[:1]) }), bare)
	for range 3 {
		l.Info().Str("k", strings.Repeat("x", 1000)).Msg("m")
	}
	if lines := strings.Count(got.String(), `"message":"m"}`+"\n"); lines != 3 || l.Stats().Failed != 0 {
		t.Errorf("got %d lines, %+v", lines, l.Stats())
	}
}

func TestWriterThatPanicsHalfWayDoesNotDamageTheNextLine(t *testing.T) {
	var got []byte
	on := true
	l := nib.New(writeFunc(func(p []byte) (int, error) {
		if on {
			got = append(got, p[:4]...)
			panic("boom")
		}
		got = append(got, p...)
		return len(p), nil
	}), bare, nib.WithErrorHandler(func(error) {}))
	l.Info().Msg("1")
	on = false
	l.Info().Msg("2")
	if want := "{\"me\n{\"message\":\"2\"}\n"; string(got) != want || l.Stats().Failed != 1 {
		t.Errorf("\n got %q, %+v\nwant %q, one failed", got, l.Stats(), want)
	}
}

func TestWriteAfterCloseIsCounted(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	must.Succeed(t, err)
	c := &capture{tb: t}
	l := nib.New(f, nib.WithErrorHandler(c.fail))
	l.Info().Msg("m")
	f.Close()
	for range 3 {
		l.Info().Msg("m")
	}
	errs := c.takeErrors()
	if len(errs) != 3 || !errors.Is(errs[0], os.ErrClosed) || l.Stats().Failed != 3 {
		t.Errorf("got %v, %+v", errs, l.Stats())
	}
}

func TestSinkErrorsAreCounted(t *testing.T) {
	c := &capture{tb: t}
	l := nib.NewSink(sinkFunc(func(*nib.Record) error { return errStep }), nib.WithErrorHandler(c.fail))
	l.Named("a").Info().Msg("m")
	l.With(func(e *nib.Event) { e.Int("a", 1) }).Info().Msg("m")
	if errs := c.takeErrors(); len(errs) != 2 || !errors.Is(errs[0], errStep) || l.Stats().Failed != 2 {
		t.Errorf("got %v, %+v", errs, l.Stats())
	}
}

func TestEachLineIsOneWrite(t *testing.T) {
	w := &stepWriter{}
	l := nib.New(w)
	for i := range 10 {
		l.Info().Str("k", strings.Repeat("x", i*1000)).Msg("m")
		if w.calls != i+1 || w.got[len(w.got)-1] != '\n' {
			t.Fatalf("got %d writes after %d lines", w.calls, i+1)
		}
	}
}

func TestDiscardWriter(t *testing.T) {
	l := nib.New(io.Discard)
	l.Info().Msg("m")
	if s := l.Stats(); s.Failed+s.Aborted+s.Reentrant != 0 {
		t.Errorf("got %+v", s)
	}
}

func TestNilWriterAndSinkPanicAtOnce(t *testing.T) {
	for name, f := range map[string]func(){
		"New": func() { nib.New(nil) }, "NewSink": func() { nib.NewSink(nil) }, "WithLevel": func() { nib.New(io.Discard, nib.WithLevel(nil)) },
	} {
		if got, _ := panicOf(f).(string); !strings.HasPrefix(got, "nib: ") {
			t.Errorf("%s(nil) panics with %q", name, got)
		}
	}
}

// The default handler must not fail because of the error that it reports.
func TestDefaultErrorHandler(t *testing.T) {
	if os.Getenv("NIB_TEST_CHILD") == "fail" {
		l := nib.New(writeFunc(func([]byte) (int, error) { return 0, errStep }))
		for range 1000 {
			l.Info().Msg("m")
		}
		os.Exit(0)
	}
	out, code := inChild(t, "fail")
	if n := strings.Count(out, "step"); code != 0 || n < 1 || n > 60 {
		t.Errorf("status %d, %d lines of 1000 errors\n%s", code, n, out)
	}
}
