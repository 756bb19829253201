// SPDX-License-Identifier: Apache-2.0

package journald

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
)

var errOther = errors.New("permission denied")

// record returns a record of a level.
func record(level nib.Level) *nib.Record {
	return &nib.Record{Level: level, Line: []byte(`{"message":"m"}` + "\n")}
}

func testSink(p port) *Sink {
	return newSink(Config{Identifier: "test", Stall: time.Millisecond}, p)
}

func TestDelivery(t *testing.T) {
	for _, tt := range []struct {
		name string
		port fakePort
		want error
		// the calls of the port, and the counts in Stats
		entries, files, connects int
		reason                   delivery.Reason
	}{
		{"at once", fakePort{}, nil, 1, 0, 0, ""},
		{"after waiting for room", fakePort{errs: []error{errFull, errFull, nil}}, nil, 1, 0, 0, ""},
		{"never any room", fakePort{errs: []error{errFull}}, errStalled, 0, 0, 0, delivery.ReasonStalled},
		{"connected again", fakePort{errs: []error{errGone, nil}}, nil, 1, 0, 1, ""},
		{"connected again after a while", fakePort{errs: []error{errGone, errGone, errGone, nil}, connectErrs: []error{errGone, errGone, nil}}, nil, 1, 0, 3, ""},
		{"refused by the system", fakePort{errs: []error{errOther}}, errOther, 0, 0, 0, delivery.ReasonFailed},
		{"refused a new socket", fakePort{errs: []error{errGone}, connectErrs: []error{errOther}}, errOther, 0, 0, 1, delivery.ReasonFailed},
		{"large", fakePort{errs: []error{errLarge}}, nil, 0, 1, 0, ""},
		{"large, after waiting for room", fakePort{errs: []error{errLarge}, fileErrs: []error{errFull, nil}}, nil, 0, 1, 0, ""},
		{"large, connected again", fakePort{errs: []error{errLarge}, fileErrs: []error{errGone, nil}}, nil, 0, 1, 1, ""},
		{"large, refused", fakePort{errs: []error{errLarge}, fileErrs: []error{errOther}}, errOther, 0, 0, 0, delivery.ReasonFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &tt.port
			s := testSink(p)
			s.config.Stall = patienceOf(tt.want)
			if err := s.WriteRecord(record(nib.LevelError)); err != tt.want {
				t.Errorf("got error %v, want %v", err, tt.want)
			}
			if len(p.entries) != tt.entries || len(p.files) != tt.files || p.connects != tt.connects {
				t.Errorf("got %d entries, %d files, %d connections, want %d, %d, %d", len(p.entries), len(p.files), p.connects, tt.entries, tt.files, tt.connects)
			}
			st := s.Stats()
			var want []delivery.Drop
			if tt.reason != "" {
				want = []delivery.Drop{{Reason: tt.reason, Level: nib.LevelError, Lines: 1}}
			}
			if !slices.Equal(st.Dropped, want) || st.Lines+st.Lost() != 1 || st.Large != uint64(tt.files) {
				t.Errorf("got %+v, want %v dropped", st, want)
			}
		})
	}
}

// patienceOf returns a Stall that is long if the line must be delivered.
func patienceOf(want error) time.Duration {
	if want == nil {
		return time.Minute
	}
	return time.Millisecond
}

func TestConnectionThatCannotBeMadeIsAnError(t *testing.T) {
	p := &fakePort{errs: []error{errGone}, connectErrs: []error{errGone}}
	s := testSink(p)
	if err := s.WriteRecord(record(nib.LevelInfo)); err != errGone {
		t.Errorf("got %v, want %v", err, errGone)
	}
	if st := s.Stats(); !slices.Equal(st.Dropped, []delivery.Drop{{Reason: delivery.ReasonGone, Level: nib.LevelInfo, Lines: 1}}) || st.Reconnects != 0 {
		t.Errorf("got %+v", st)
	}
}

// After a call that has timed out, later calls do not wait.
func TestOnlyTheFirstCallWaits(t *testing.T) {
	p := &fakePort{errs: []error{errFull}}
	s := testSink(p)
	_ = s.WriteRecord(record(nib.LevelInfo))
	for i := range 3 {
		before := p.sends
		if err := s.WriteRecord(record(nib.LevelInfo)); !errors.Is(err, delivery.ErrStalled) || p.sends != before+1 {
			t.Errorf("call %d: error %v after %d attempts, want one", i, err, p.sends-before)
		}
	}
	p.errs = nil
	if err := s.WriteRecord(record(nib.LevelInfo)); err != nil {
		t.Errorf("with room again: %v", err)
	}
	p.errs, s.config.Stall = []error{errFull, errFull, nil}, time.Minute
	if err := s.WriteRecord(record(nib.LevelInfo)); err != nil {
		t.Errorf("a call after that does not wait: %v", err)
	}
	if st := s.Stats(); st.Lines != 2 || st.Lost() != 4 {
		t.Errorf("got %+v, want 2 lines and 4 lost", st)
	}
}

func TestDropsAreCountedByLevel(t *testing.T) {
	s := testSink(&fakePort{errs: []error{errOther}})
	for _, l := range []nib.Level{-50, nib.LevelTrace, nib.LevelInfo, nib.LevelInfo + 3, nib.LevelWarn, nib.LevelFatal, 50} {
		_ = s.WriteRecord(record(l))
	}
	want := []delivery.Drop{{Reason: delivery.ReasonFailed, Level: nib.LevelTrace, Lines: 2}, {Reason: delivery.ReasonFailed, Level: nib.LevelInfo, Lines: 2}, {Reason: delivery.ReasonFailed, Level: nib.LevelWarn, Lines: 1}, {Reason: delivery.ReasonFailed, Level: nib.LevelFatal, Lines: 2}}
	if got := s.Stats().Dropped; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestNothingIsWrittenAfterClose(t *testing.T) {
	p := new(fakePort)
	s := testSink(p)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := s.WriteRecord(record(nib.LevelWarn)); err != errClosed || p.closes != 1 || p.sends != 0 {
		t.Errorf("got %v, %d closes, %d sends, want %v, 1, 0", err, p.closes, p.sends, errClosed)
	}
	if got, want := s.Stats().Dropped, []delivery.Drop{{Reason: delivery.ReasonClosed, Level: nib.LevelWarn, Lines: 1}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A gonePort fails until it is connected again, for all callers at once.
type gonePort struct {
	connected atomic.Bool
	connects  atomic.Int32
	arrived   sync.WaitGroup // calls that have failed
}

func (p *gonePort) send([]byte) error {
	if p.connected.Load() {
		return nil
	}
	p.arrived.Done()
	p.arrived.Wait() // no call connects before all have failed
	return errGone
}

func (p *gonePort) sendFile([]byte) error { return nil }
func (p *gonePort) close()                {}

func (p *gonePort) connect() error {
	p.connects.Add(1)
	p.connected.Store(true)
	return nil
}

func TestOneOfManyConnectsAgain(t *testing.T) {
	const callers = 16
	p := new(gonePort)
	p.arrived.Add(callers)
	s := testSink(p)
	await.Goroutines(callers, func(int) {
		if err := s.WriteRecord(record(nib.LevelInfo)); err != nil {
			t.Error(err)
		}
	})
	if n := p.connects.Load(); n != 1 || s.Stats().Reconnects != 1 {
		t.Errorf("connected %d times (%+v), want once", n, s.Stats())
	}
}

// sample is a typical line of a service, with values that need conversion.
var sample = []byte(`{"time":"2026-01-02T15:04:06.120Z","level":"info","logger":"http","method":"GET","path":"/cart","status":200,"took":1.92,"agent":"Mozilla/5.0 (X11; Linux x86_64)","user":{"id":7},"trace.id":"4bf92f3577b34da6","trace-id":"x","\u00e9":"a\nb\u001b","message":"request served"}` + "\n")

// A discardPort accepts everything.
type discardPort struct{ fakePort }

func (*discardPort) send([]byte) error { return nil }

func TestNothingIsAllocated(t *testing.T) {
	var pc [1]uintptr
	runtime.Callers(1, pc[:])
	s := testSink(new(discardPort))
	r := &nib.Record{PC: pc[0], Message: sample[len(sample)-17 : len(sample)-3], Line: sample}
	if string(r.Message) != "request served" {
		t.Fatalf("message %q", r.Message)
	}
	alloctest.Zero(t, func() { _ = s.WriteRecord(r) })
}

func TestAHugeLineIsNotKept(t *testing.T) {
	s := testSink(new(discardPort))
	line := append(append([]byte(`{"a":"`), make([]byte, 1<<20)...), "\"}\n"...)
	for i := 6; i < len(line)-3; i++ {
		line[i] = 'x'
	}
	_ = s.WriteRecord(&nib.Record{Line: line})
	if e := s.encoders.Get().(*encoder); cap(e.buf) > keepSize {
		t.Errorf("an encoder with %d bytes went back to the pool", cap(e.buf))
	}
}

func BenchmarkEntry(b *testing.B) {
	s := testSink(new(discardPort))
	r := &nib.Record{Message: sample[len(sample)-17 : len(sample)-3], Line: sample}
	b.SetBytes(int64(len(sample)))
	b.ReportAllocs()
	for b.Loop() {
		_ = s.WriteRecord(r)
	}
}

// TestLastAttemptFollowsTheDeadline has a deadline that has passed after the
// first attempt, as when the process was stopped, and then there is room.
func TestLastAttemptFollowsTheDeadline(t *testing.T) {
	p := &fakePort{errs: []error{errFull, nil}}
	s := testSink(p)
	s.config.Stall = -1
	if err := s.WriteRecord(record(nib.LevelInfo)); err != nil || p.sends != 2 {
		t.Errorf("got %v after %d attempts, want 2", err, p.sends)
	}
}
