// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"errors"
	"syscall"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// TestForkWritesToTheSameFile has two spools deliver to one file, each with its
// own marks.
func TestForkWritesToTheSameFile(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{MaxSize: 1 << 20, MaxBackups: 3})
	f, err := s.Fork()
	must(t, err)
	other := f.(*Sink)
	if other.w.path != s.w.path || other.w.given.MaxBackups != s.w.given.MaxBackups {
		t.Errorf("got %s with %+v, want %s with %+v",
			other.w.path, other.w.given, s.w.path, s.w.given)
	}
	first, second := s.Mark(), other.Mark()
	for n, d := range []*Sink{s, other, s} {
		res, err := d.Deliver(context.Background(), []nib.Record{*deskRecord(n)})
		if must(t, err); res.Accepted != 1 {
			t.Errorf("got %+v, want 1 accepted", res)
		}
	}
	must(t, s.Close(), other.Close())
	checkNumbers(t, memAll(t, m), 3)

	s = openMem(t, m, clock, Config{})
	f, err = s.Fork()
	must(t, err)
	n, err := s.Resume(context.Background(), first, []nib.Record{*deskRecord(0), *deskRecord(2), *deskRecord(3)})
	if must(t, err); n != 2 {
		t.Errorf("got %d records of the first spool, want 2", n)
	}
	n, err = f.(*Sink).Resume(context.Background(), second, []nib.Record{*deskRecord(1), *deskRecord(4)})
	if must(t, err); n != 1 {
		t.Errorf("got %d records of the second spool, want 1", n)
	}
	must(t, s.Close(), f.(*Sink).Close())
}

// TestDeliverEndsTheTornLineOfAnotherProcess has a process that dies in the
// middle of a line while another one delivers to the same file.
func TestDeliverEndsTheTornLineOfAnotherProcess(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	s.Mark()
	for n, torn := range []string{"", `{"other":`, "", "", `{"other":1`} {
		appendTo(t, m, torn)
		res, err := s.Deliver(context.Background(), []nib.Record{*deskRecord(n)})
		if must(t, err); res.Accepted != 1 {
			t.Errorf("got %+v, want 1 accepted", res)
		}
	}
	must(t, s.Close())
	want := string(deskRecord(0).Line) + `{"other":` + "\n" + string(deskRecord(1).Line) + string(deskRecord(2).Line) +
		string(deskRecord(3).Line) + `{"other":1` + "\n" + string(deskRecord(4).Line)
	wantText(t, "file", memAll(t, m), want)
}

// TestFirstLineBehindATornOneIsWrittenAgain has another process write, and
// perhaps die during that, just as a delivery begins to write.
func TestFirstLineBehindATornOneIsWrittenAgain(t *testing.T) {
	const other = `{"other":1}` + "\n"
	first, second := string(deskRecord(0).Line), string(deskRecord(1).Line)
	for _, c := range []struct {
		name, other string
		err         error      // of that write
		then        vfstest.Op // the first one after it fails
		want        string
		wantErr     error
		reported    error
	}{
		{name: "whole line", other: other, then: vfstest.OpTruncate, want: other + first + second},
		{name: "torn line", other: other[:9], then: vfstest.OpTruncate, want: other[:9] + first + second + first},
		{name: "not described", other: other[:9], then: vfstest.OpStat, want: other[:9] + first + second, reported: syscall.EIO},
		{name: "not read", other: other[:9], then: vfstest.OpRead, want: other[:9] + first + second, reported: syscall.EIO},
		{name: "not written", other: other, then: vfstest.OpTruncate, err: syscall.EIO, want: other, wantErr: syscall.EIO},
		{name: "not written again", other: other[:9], then: vfstest.OpWrite, want: other[:9] + first + second, wantErr: syscall.EIO},
	} {
		m, clock := newMem(t)
		var reported error
		s := openMem(t, m, clock, Config{OnError: func(err error) { reported = err }})
		s.Mark()
		f, err := s.Fork() // so the file has two users
		must(t, err)
		m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "app.log", Times: 1, Err: c.err, Reached: func() {
			appendTo(t, m, c.other)
			m.Fail(vfstest.Fault{Op: c.then, Path: "app.log", Times: 1, Err: syscall.EIO})
		}})
		res, err := s.Deliver(context.Background(), []nib.Record{*deskRecord(0), *deskRecord(1)})
		if want := map[bool]int{true: 2}[c.wantErr == nil]; !errors.Is(err, c.wantErr) || res.Accepted != want {
			t.Errorf("%s: got %+v, %v, want %d accepted and %v", c.name, res, err, want, c.wantErr)
		}
		must(t, s.Close(), f.(*Sink).Close())
		wantText(t, c.name, memAll(t, m), c.want)
		if c.wantErr == nil && !errors.Is(reported, c.reported) {
			t.Errorf("%s: OnError got %v, want %v", c.name, reported, c.reported)
		}
	}
}

// TestTornLineIsCompletedByOneProcessOnly has two processes find the beginning
// of a line that both could complete.
func TestTornLineIsCompletedByOneProcessOnly(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	f, err := s.Fork()
	must(t, err)
	s.Mark()
	f.(*Sink).Mark()
	line := string(deskRecord(0).Line)
	appendTo(t, m, line[:9])
	for n, d := range []delivery.Destination{s, f} {
		res, err := d.Deliver(context.Background(), []nib.Record{*deskRecord(n)})
		if must(t, err); res.Accepted != 1 {
			t.Errorf("got %+v, want 1 accepted", res)
		}
	}
	must(t, s.Close(), f.(*Sink).Close())
	wantText(t, "file", memAll(t, m), line[:9]+"\n"+line+string(deskRecord(1).Line))
}
