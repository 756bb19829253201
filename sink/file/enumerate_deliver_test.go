// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package file

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/enumerate"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// A deliverLife is a fileLife of a sink behind a spool, which continues where a
// process has died.
type deliverLife struct {
	fileLife
	c       Config
	mark    []byte
	settled int
	taken   int  // by Resume
	shared  bool // another spool has delivered a line identical to an unwritten one
}

// How the previous process has died.
const (
	diedSameFile  = "same-file"
	diedRotated   = "rotated"   // after the place in its mark
	diedIdentical = "identical" // and another spool has delivered the first line that it has not written
)

const (
	toDeliver   = 40
	wasSettled  = 5 // when the previous process died
	wasWritten  = 7 // and a part of the next one
	rotatedThen = 6
)

// die leaves the files of a process that is killed during Deliver.
func (l *deliverLife) die(how string) {
	c := l.c
	c.fs, c.MaxSize = l.w.Sound, 0
	s, err := Open(livePath, c)
	must(l.t, err)
	s.Mark()
	deliver := func(from, to int) {
		for n := from; n < to; {
			res, err := s.Deliver(context.Background(), []nib.Record{*deskRecord(n)})
			must(l.t, err)
			s.SyncMark()
			n += res.Accepted
		}
	}
	deliver(0, wasSettled)
	l.mark, l.settled = s.Mark(), wasSettled
	if l.shared = how == diedIdentical; l.shared {
		deliverAll(l.t, s, *deskRecord(wasSettled), *deskRecord(wasSettled + 1))
	} else {
		deliver(wasSettled, rotatedThen)
		if how == diedRotated {
			must(l.t, s.Rotate())
		}
		deliver(rotatedThen, wasWritten)
	}
	must(l.t, s.Close())
	appendTo(l.t, l.w.Sound.(*vfstest.Mem), string(deskRecord(wasWritten).Line[:12]))
	if l.shared {
		other := fork(l.t, s)
		deliverAll(l.t, other, *deskRecord(wasWritten))
		must(l.t, other.Close())
	}
}

// attempt calls f until it succeeds, as a spool does. After several failures it
// removes the fault.
func (l *deliverLife) attempt(f func() error) {
	for n := 0; l.do(f()) != nil; n++ {
		if n == 5 {
			l.w.Heal()
		}
		if n > 20 {
			l.t.Fatalf("it goes on to fail without a fault: %v", l.errs[len(l.errs)-1])
		}
		time.Sleep(300 * time.Millisecond)
	}
}

func (l *deliverLife) live() {
	ctx := context.Background()
	l.open(l.c)
	l.attempt(func() error {
		taken, err := l.s.Resume(ctx, l.mark, l.batch())
		weak := l.shared && l.s.dest.claims.Failing() // the claims could not be read
		if want := wasWritten - wasSettled; err == nil && taken != want && !(weak && taken == want+1) {
			l.t.Errorf("Resume: got %d taken, want %d", taken, want)
		}
		l.settled += taken
		l.taken = taken
		return err
	})
	l.mark = l.s.Mark()
	for rounds := 0; l.settled < toDeliver; rounds++ {
		if l.settled > 30 || rounds == 100 {
			l.w.Heal()
		}
		if rounds > 200 {
			l.t.Fatalf("Deliver settles nothing behind line %d: %+v", l.settled, l.s.dest)
		}
		l.attempt(func() error {
			res, err := l.s.Deliver(ctx, l.batch())
			l.settled += res.Accepted
			l.mark = l.s.Mark()
			if res.Accepted > 0 {
				l.checkDurable()
			}
			if !l.s.SyncMark() && res.Accepted == 0 && err == nil {
				return errors.New("Deliver settled nothing, gave no error and wants no sync")
			}
			return err
		})
		time.Sleep(50 * time.Millisecond)
	}
	l.w.Heal()
	l.do(l.s.Flush(ctx))
	must(l.t, l.s.Close())
}

func (l *deliverLife) batch() (batch []nib.Record) {
	for n := l.settled; n < min(l.settled+4, toDeliver); n++ {
		batch = append(batch, *deskRecord(n))
	}
	return batch
}

// checkDurable cuts the power and checks that the settled lines are there.
func (l *deliverLife) checkDurable() {
	image := l.w.Sound.(*vfstest.Mem).CrashClone(vfstest.Nothing)
	text := l.text(image)
	for n := range l.settled {
		if !strings.Contains(text, strings.TrimSuffix(string(deskRecord(n).Line), "\n")) {
			l.t.Errorf("line %d is settled, and is not on the disk", n)
		}
	}
}

// text returns the text of the log's files.
func (l *deliverLife) text(m *vfstest.Mem) string {
	var all strings.Builder
	for _, name := range memFiles(l.t, m) {
		if strings.HasPrefix(name, "app") && !slices.Contains(foreigners, name) && !strings.HasSuffix(name, tempExtension) {
			all.WriteString(memText(l.t, m, filepath.Join(logDir, name)))
			all.WriteString("\n")
		}
	}
	return all.String()
}

func (l *deliverLife) checkDelivered() {
	t, st := l.t, l.s.Stats()
	c, faulty := l.w.Case()
	struck := l.w.Struck()
	m := l.w.Sound.(*vfstest.Mem)
	text := l.text(m)
	// After a failed sync, or a write that was done although it failed, lines
	// are written again.
	again := c.Done || c.Op == vfstest.OpSync || c.Op == vfstest.OpSyncDir || c.Span >= enumerate.AllHundred
	for n := range toDeliver {
		want := 1
		if l.shared && n == wasWritten && l.taken == wasWritten-wasSettled {
			want = 2
		}
		if k := strings.Count(text, string(deskRecord(n).Line)); k != want && !(again && k > want) {
			t.Errorf("line %d is there %d times, want %d", n, k, want)
		}
	}
	if want := uint64(toDeliver - wasSettled - l.taken); st.Lines != want || st.Lost() > 0 {
		t.Errorf("got %+v, want %d lines delivered", st, want)
	}
	if !faulty && (len(l.errs) > 0 || st.Errors > 0) {
		t.Errorf("without a fault: got %v, %+v", l.errs, st)
	}
	if struck > 0 && !c.Half && !l.harmless(c) && c.Err != vfs.ErrLocked { // a file that stays locked is reported later
		if !slices.ContainsFunc(l.errs, func(err error) bool {
			return errors.Is(err, c.Err) || c.Err == vfs.ErrLocked && errors.Is(err, errInUse)
		}) {
			t.Errorf("the error was not reported, but %v", l.errs)
		}
		if st.Errors == 0 && l.refused == 0 {
			t.Errorf("the error was not counted: %+v", st)
		}
	}
	if n := m.Opened(); n != 0 {
		t.Errorf("%d files are open in the end", n)
	}
	for _, name := range foreigners {
		wantText(t, name, memText(t, m, filepath.Join(logDir, name)), name)
	}
}

// TestEveryCallMayFailBehindASpool enumerates the life of a sink that takes
// over from a dead process: each line is there once, and is on the disk when it
// is settled.
func TestEveryCallMayFailBehindASpool(t *testing.T) {
	for _, how := range []string{diedSameFile, diedRotated, diedIdentical} {
		t.Run(how, func(t *testing.T) {
			empty := func(t testing.TB) vfs.FS {
				m := vfstest.NewMem(nil)
				must(t, m.MkdirAll(logDir, 0o700))
				for _, name := range foreigners {
					f, err := m.Open(filepath.Join(logDir, name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
					must(t, err)
					_, err = f.Write([]byte(name))
					must(t, err, f.Close())
				}
				return m
			}
			enumerate.Life{New: empty, Run: func(t *testing.T, w *enumerate.World) {
				synctest.Test(t, func(t *testing.T) {
					l := deliverLife{fileLife: fileLife{t: t, w: w, stored: map[int]bool{}}, c: Config{MaxSize: 700, boot: 1}}
					l.die(how)
					await.Sleep(time.Second)
					l.live()
					l.checkDelivered()
				})
			}}.Enumerate(t)
		})
	}
}
