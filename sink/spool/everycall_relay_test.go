// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package spool

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/enumerate"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// TestEveryCallOfARelayMayFail is [TestEveryCallMayFail] for nib relay, which
// checks whether a process has a spool open, inspects it, opens it with
// Config.DeliverOnly, delivers, and closes it. The destination is down the
// first time and up afterwards, until the relay finds nothing left. The spool
// has a second destination that the relay does not have: in the end a process
// of the service delivers all of its lines.
func TestEveryCallOfARelayMayFail(t *testing.T) {
	image := memRelay(t)
	enumerate.Life{
		New:   func(testing.TB) vfs.FS { return image.CrashClone(vfstest.Everything) },
		Run:   relayThrough,
		Class: classOf,
	}.Enumerate(t)
}

// shownInView has calls of Inspect whose errors show in the View.
var shownInView = map[string]string{
	"lstat spool.(*View).add":   "the size is not known",
	"open store.(*Dir).Owner":   "the owner is unknown",
	"lock store.(*Dir).Owner":   "as above",
	"open store.(*Dir).Bytes":   "the time of the oldest record is not known; what a delivery cannot read is another test's",
	"stat store.(*Dir).Bytes":   "as above",
	"stat store.(*Dir).isGone":  "as above",
	"lstat store.(*Dir).isGone": "as above",
	"read store.(*Dir).Bytes":   "as above",
	"read store.readAround":     "as above",
}

const held = "other" // the destination that the relay does not have

// memRelay returns a file system with a spool: the first destination has
// settled a part of it, and the second one nothing.
func memRelay(t testing.TB) *vfstest.Mem {
	t.Helper()
	m := memSpool(t)
	c := Config{SegmentSize: segment.MinSize, Size: 64 * segment.MinSize, fs: m, Drain: time.Nanosecond, OnError: func(error) {}}
	s, err := Open(memDir, &far{do: down}, both(&far{do: down}, c))
	must(t, err)
	closeDown(t, s)
	return m
}

func relayThrough(t *testing.T, w *enumerate.World) {
	synctest.Test(t, func(t *testing.T) {
		l := newLife(w, memDir)
		l.backlog(lifeSettled, lifeBacklog)
		l.c.Also = []NamedDestination{{held, l.f}} // the destination of the service
		l.quiet = shownInView
		l.f.set(down)
		l.relay(t)
		l.f.set(nil)
		l.relay(t)
		l.relay(t)
		w.Heal()
		for tries := 0; !l.relay(t); tries++ {
			if tries == 2 {
				t.Fatal("the relay does not come to an end")
			}
		}
		l.checkOf(t, l.f, lifeSettled)
		l.checkReports(t)

		both := &far{}
		l.f, l.c.Also[0].To = &far{}, both
		l.process(t, func(s *Sink) {
			l.log(s, 1)
			must(t, s.Flush(context.Background()))
		})
		l.checkOf(t, l.f, lifeBacklog)
		got := l.arrived(t, both)
		if len(got) < lifeBacklog-lifeSettled+1 || got[len(got)-1] != lifeBacklog {
			t.Errorf("the other destination got %v", got)
		}
		l.checkFiles(t, memDir)
	})
}

// checkOf checks that a destination has got all lines from number from on.
func (l *life) checkOf(t *testing.T, f *far, from int) {
	t.Helper()
	want := slices.DeleteFunc(l.wanted(), func(n int) bool { return n < from })
	if got := l.arrived(t, f); !slices.Equal(got, want) {
		t.Errorf("%d lines arrived, want %d: %s", len(got), len(want), firstDifference(got, want))
	}
}

// relay delivers a spool like cmd/nib/relay, and reports whether nothing is
// left.
func (l *life) relay(t *testing.T) (done bool) {
	switch o, err := store.LookInto(l.w.FS, l.dir).Owner(); {
	case err != nil:
		l.mayFail(t, err)
		return false
	case o != store.OwnedByNone:
		return false
	}
	v, err := inspect(l.w.FS, l.dir)
	if err != nil {
		l.mayFail(t, err)
		return false
	}
	l.returned += len(v.Unread)
	if slices.ContainsFunc(v.Unread, func(name string) bool { return strings.HasSuffix(name, store.CursorExt) }) {
		return false
	}
	if v.Pending(defaultName) == 0 && len(v.Bad) == 0 && len(v.Unread) == 0 {
		return true
	}
	c := l.c
	c.Also, c.DeliverOnly, c.Sync = nil, true, SyncNever
	for _, d := range v.Destinations {
		if d.Name != defaultName {
			c.Also = append(c.Also, NamedDestination{d.Name, &far{do: holds}})
		}
	}
	s, err := Open(l.dir, l.f, c)
	if err != nil {
		l.mayFail(t, err)
		return false
	}
	for begin := time.Now(); of(t, s.Stats(), defaultName).Pending > 0 &&
		time.Since(begin) < 5*time.Second; {
		time.Sleep(10 * time.Millisecond)
	}
	l.close(t, s)
	return false
}

// holds stands for a destination whose lines stay in the spool.
func holds(ctx context.Context, _ []nib.Record) (delivery.Result, error, bool) {
	<-ctx.Done()
	return delivery.Result{}, ctx.Err(), true
}
