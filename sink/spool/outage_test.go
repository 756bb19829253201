// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package spool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// A reported records the errors passed to OnError, and when.
type reported struct {
	mu    sync.Mutex
	begin time.Time
	errs  []error
	after []time.Duration
}

func (r *reported) add(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs, r.after = append(r.errs, err), append(r.after, time.Since(r.begin))
}

// count waits until all goroutines are blocked, and returns the number of
// reports.
func (r *reported) count() int {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.errs)
}

// TestUnreachableDestinationIsReported has destinations that accept nothing for
// ten minutes, each in a different way: the first report comes within 5 s of
// the first attempt, then one a minute, each with the size of the backlog.
func TestUnreachableDestinationIsReported(t *testing.T) {
	attempt := 0
	for _, c := range []struct {
		name string
		do   func(context.Context, []nib.Record) (delivery.Result, error, bool)
		want string
		is   error
	}{
		{"same reason", down, "down; ", errDown},
		{"another reason each time", func(context.Context, []nib.Record) (delivery.Result, error, bool) {
			attempt++
			return delivery.Result{}, fmt.Errorf("attempt %d: %w", attempt, errDown), true
		}, ": down; ", errDown},
		{"no reason", func(context.Context, []nib.Record) (delivery.Result, error, bool) {
			return delivery.Result{}, nil, true
		}, deliver.ErrNothing.Error(), deliver.ErrNothing},
		{"no answer", func(ctx context.Context, _ []nib.Record) (delivery.Result, error, bool) {
			<-ctx.Done()
			return delivery.Result{}, ctx.Err(), true
		}, "no answer for ", deliver.ErrNoAnswer},
		{"late refusal", func(ctx context.Context, _ []nib.Record) (delivery.Result, error, bool) {
			select {
			case <-time.After(45 * time.Second):
			case <-ctx.Done():
			}
			return delivery.Result{}, errDown, true
		}, "; ", nil},
		{"panic", func(context.Context, []nib.Record) (delivery.Result, error, bool) { panic("boom") }, "panic: boom", nil},
		{"panic with a loop", func(context.Context, []nib.Record) (delivery.Result, error, bool) {
			m := map[string]any{}
			m["m"] = m // package fmt would follow it until the stack is full
			panic(m)
		}, "panic: map[string]interface {}", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &reported{begin: time.Now()}
				f := &far{do: c.do}
				s, err := Open("", f, Config{SegmentSize: segment.MinSize, Drain: time.Nanosecond, Label: "syslog-2", OnError: r.add})
				must(t, err)
				for n := range 3 {
					x := record(nib.LevelInfo, n, 200)
					x.Time = time.Now().UnixNano()
					must(t, s.WriteRecord(x))
				}
				const minutes = 10
				await.Sleep(minutes*time.Minute + 30*time.Second)
				checkReports(t, r, minutes, c.want, c.is)
				_ = s.Close()
			})
		})
	}
}

func checkReports(t *testing.T, r *reported, minutes int, want string, is error) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.errs) < minutes-1 || len(r.errs) > minutes+1 {
		t.Errorf("got %d reports in %d minutes, want one a minute", len(r.errs), minutes)
	}
	for i, err := range r.errs {
		if i == 0 && r.after[i] > 5*time.Second || i > 0 && r.after[i]-r.after[i-1] < time.Minute {
			t.Errorf("report %d after %v, want the first within 5 s, then one a minute", i, r.after)
		}
		if is != nil && !errors.Is(err, is) {
			t.Errorf("got %v, want %v in it", err, is)
		}
		text := err.Error()
		low := r.after[i].Truncate(time.Second) // the report is rounded to a second
		if !strings.Contains(text, fmt.Sprintf(", the oldest for %v", low)) && !strings.Contains(text, fmt.Sprintf(", the oldest for %v", low+time.Second)) {
			t.Errorf("report %d after %v: got %q, want that age in it", i, r.after[i], text)
		}
		waiting := "3 lines wait, of up to "
		if i == 0 {
			waiting = " wait, of up to " // the first attempt may precede the third line
		}
		for _, part := range []string{"nib/spool: deliver to syslog-2: ", want, waiting} {
			if !strings.Contains(text, part) {
				t.Errorf("report %d: got %q, want %q in it", i, text, part)
			}
		}
	}
}

// TestOutagesInOneMinuteAreReportedOnce has a destination that comes and goes.
func TestOutagesInOneMinuteAreReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reported{begin: time.Now()}
		f := &far{}
		s, err := Open("", f, Config{SegmentSize: segment.MinSize, OnError: r.add})
		must(t, err)
		for n := range 50 {
			f.set(down)
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
			await.Sleep(time.Second)
			f.set(nil)
			must(t, s.Flush(context.Background()))
		}
		if n := r.count(); n != 1 {
			t.Errorf("got %d reports of 50 outages within a minute, want 1", n)
		}
		f.set(func(ctx context.Context, _ []nib.Record) (delivery.Result, error, bool) {
			<-ctx.Done()
			return delivery.Result{}, ctx.Err(), true
		})
		must(t, s.WriteRecord(record(nib.LevelInfo, 50, 200)))
		await.Sleep(time.Minute)
		if n := r.count(); n != 2 {
			t.Errorf("got %d reports, want one more a minute after the first", n)
		}
		f.set(nil)
		_ = s.Close()
	})
}

// TestReachableDestinationIsNotReported has a destination that is idle, and
// slow, for longer than OutageDelay.
func TestReachableDestinationIsNotReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reported{}
		f := &far{do: func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
			time.Sleep(deliver.OutageDelay - time.Millisecond)
			return delivery.Result{Accepted: len(batch)}, nil, false
		}}
		s, err := Open("", f, Config{SegmentSize: segment.MinSize, OnError: r.add})
		must(t, err)
		for n := range 10 {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
			await.Sleep(time.Hour)
		}
		must(t, s.Close())
		if n := r.count(); n > 0 {
			t.Errorf("got %v", r.errs)
		}
	})
}

// TestCloseReportsWhyLinesAreLeft closes spools before the first attempt has
// returned, as a program that ends early does.
func TestCloseReportsWhyLinesAreLeft(t *testing.T) {
	for _, c := range []struct {
		name string
		err  func(context.Context) error
		want string // of the only report; "" if there is none
	}{
		{"a destination that repeats its attempts", func(context.Context) error { return errDown }, "down; 3 lines wait"},
		{"one that panics", func(context.Context) error { panic("boom") }, "panic: boom"},
		{"one without an answer", context.Context.Err, ""},
		{"one that wraps the error of its context", func(ctx context.Context) error { return fmt.Errorf("dial: %w", ctx.Err()) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &reported{}
				s, err := Open("", &far{do: func(ctx context.Context, _ []nib.Record) (delivery.Result, error, bool) {
					<-ctx.Done()
					return delivery.Result{}, c.err(ctx), true
				}}, Config{SegmentSize: segment.MinSize, Drain: deliver.OutageDelay / 2, OnError: r.add})
				must(t, err)
				for n := range 3 {
					must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
				}
				if err := s.Close(); !errors.Is(err, ErrPending) || !strings.Contains(err.Error(), "3 for destination") {
					t.Errorf("Close: got %v, want ErrPending and the number of lines", err)
				}
				if n := r.count(); (n == 1) != (c.want != "") || n > 1 {
					t.Fatalf("got the reports %v, want %q", r.errs, c.want)
				}
				if c.want != "" && !strings.Contains(r.errs[0].Error(), c.want) {
					t.Errorf("got %v, want %q in it", r.errs[0], c.want)
				}
			})
		})
	}
}
