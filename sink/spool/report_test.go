// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// TestOnErrorNeverRunsInACall makes the file of the active segment fail, with
// an OnError that does not return: the calls return, the destination gets the
// lines, and Close returns.
func TestOnErrorNeverRunsInACall(t *testing.T) {
	m := vfstest.NewMem(nil)
	faulty := vfstest.NewFaulty(m)
	reached, hold := make(chan struct{}, 100), make(chan struct{})
	defer close(hold)
	f := &far{}
	s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: faulty, Sync: SyncNever, hang: time.Millisecond, OnError: func(error) {
		reached <- struct{}{}
		<-hold
	}})
	awaitNext(s)
	heal := faulty.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "*.seg*", Times: 1, Err: syscall.EIO})
	must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)))
	heal()
	<-reached
	for n := range 1000 {
		must(t, s.WriteRecord(record(nib.LevelInfo, n+1, 100)))
		if n == 500 {
			s.chain.reports.Report("test", errors.New("another one"))
		}
	}
	must(t, s.Flush(context.Background()), s.Close())
	checkLines(t, f.take(), 0, 1001, 100)
}

// A badError is an error whose Error method panics.
type badError struct{}

func (badError) Error() string { panic("no text") }

// TestOnErrorMayDoAnything has an OnError that panics, ends its goroutine, or
// logs into the same spool, and a destination whose errors panic in Error.
func TestOnErrorMayDoAnything(t *testing.T) {
	var s *Sink
	ready := make(chan struct{})
	for name, onError := range map[string]func(error){
		"panics":              func(error) { panic("no") },
		"ends":                func(error) { runtime.Goexit() },
		"logs":                func(error) { <-ready; _ = s.WriteRecord(record(nib.LevelError, 0, 50)) },
		"uses a text":         func(err error) { _ = err.Error() },
		"flushes for a while": func(error) { <-ready; ctx, stop := context.WithCancel(context.Background()); stop(); _ = s.Flush(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			ready = make(chan struct{})
			var calls, attempts atomic.Int32
			f := &far{}
			f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
				switch attempts.Add(1) {
				case 1:
					return delivery.Result{}, badError{}, true
				case 2:
					return delivery.Result{}, errDown, true
				case 3:
					return delivery.Result{Accepted: 1, Rejected: []delivery.Rejection{{Index: 0, Reason: badError{}}}}, nil, true
				}
				return delivery.Result{Accepted: len(batch)}, nil, false
			})
			s = open(t, "", f, Config{SegmentSize: segment.MinSize, tick: time.Microsecond, OnError: func(err error) {
				calls.Add(1)
				onError(err)
			}})
			close(ready)
			for n := range 100 {
				must(t, s.WriteRecord(record(nib.LevelInfo, n, 100)))
			}
			must(t, s.Flush(context.Background()), s.Close())
			if calls.Load() != 2 {
				t.Errorf("OnError was called %d times, want for the first failure and for the rejection", calls.Load())
			}
			st := checkIdentity(t, s) // a line that OnError logs may come after Close
			if i := slices.IndexFunc(st.Dropped, func(d delivery.Drop) bool { return d.Reason == delivery.ReasonRejected }); i < 0 || st.Dropped[i].Lines != 1 {
				t.Errorf("got %+v, want one line rejected", st)
			}
		})
	}
}

// TestSameReasonIsReportedOnce checks that the same reason is reported once a
// minute.
func TestSameReasonIsReportedOnce(t *testing.T) {
	var reported []string
	s := open(t, "", &far{}, Config{SegmentSize: segment.MinSize, OnError: func(err error) { reported = append(reported, err.Error()) }})
	for range 10 {
		s.chain.reports.Report("x", errDown)
		s.chain.reports.Report("x", errors.New("y"))
		s.chain.reports.Report("z", errDown)
	}
	must(t, s.Close())
	if got := strings.Join(reported, ", "); got != "nib/spool: x: down, nib/spool: x: y, nib/spool: z: down" {
		t.Errorf("got %q", got)
	}
}

// TestStatsOfOtherSlotsAreAdded adds two Stats that count everything once and
// twice. The lines that were logged belong to another process.
func TestStatsOfOtherSlotsAreAdded(t *testing.T) {
	set := func(v reflect.Value, n int64) {
		for i := range v.NumField() {
			switch f := v.Field(i); f.Kind() {
			case reflect.Int, reflect.Int64:
				f.SetInt(n)
			case reflect.Uint64:
				f.SetUint(uint64(n))
			}
		}
	}
	counts := func(n int64) (st Stats) {
		var d DestinationStats
		set(reflect.ValueOf(&st).Elem(), n)
		set(reflect.ValueOf(&d).Elem(), n)
		d.Name, d.Dropped = "a", []delivery.Drop{{Reason: delivery.ReasonRejected, Level: nib.LevelWarn, Lines: uint64(n)}}
		st.Destinations = []DestinationStats{d}
		return st
	}
	got := counts(1)
	got.add(counts(2))
	d, want := got.Destinations[0], counts(3).Destinations[0]
	want.Busy = 2 // the longest
	if !reflect.DeepEqual(d, want) {
		t.Errorf("of the destination:\n got %+v\nwant %+v", d, want)
	}
	if got.Segments != 3 || got.Bad != 3 || got.Retired != 3 || got.Errors != 3 || got.Logged != 1 {
		t.Errorf("got %+v", got)
	}
	got.add(Stats{Destinations: []DestinationStats{{Name: "a", Delivered: 1}, {Name: "b", Delivered: 7}}})
	if len(got.Destinations) != 2 || got.Destinations[1].Name != "b" || got.Destinations[1].Delivered != 7 || got.Destinations[0].Delivered != 4 {
		t.Errorf("with another destination: got %+v", got.Destinations)
	}
}
