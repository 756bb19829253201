// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	_ "time/tzdata" // the zones of the table, on every system

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	must(t, err)
	return z
}

func TestScheduleNext(t *testing.T) {
	const layout = "2006-01-02 15:04:05 -0700"
	for _, c := range []struct {
		name  string
		every time.Duration
		at    string
		zone  string
		from  string
		want  []string // one after the other
	}{
		{"hours", time.Hour, "", "UTC", "2026-11-21 10:30:00 +0000", []string{"2026-11-21 11:00:00 +0000", "2026-11-21 12:00:00 +0000"}},
		{"just then", time.Hour, "", "UTC", "2026-11-21 11:00:00 +0000", []string{"2026-11-21 12:00:00 +0000"}},
		{"days are in UTC", 24 * time.Hour, "", "Asia/Tokyo", "2026-11-21 10:30:00 +0900", []string{"2026-11-22 09:00:00 +0900"}},
		{"weeks begin on Monday", 7 * 24 * time.Hour, "", "UTC", "2026-11-21 10:30:00 +0000", []string{"2026-11-23 00:00:00 +0000"}},
		{"midnight", 0, "00:00", "Europe/Berlin", "2026-11-21 10:30:00 +0100", []string{"2026-11-22 00:00:00 +0100", "2026-11-23 00:00:00 +0100"}},
		{"twice a day", 0, "18:00 06:00", "UTC", "2026-11-21 10:30:00 +0000", []string{"2026-11-21 18:00:00 +0000", "2026-11-22 06:00:00 +0000"}},
		{"end of month and year", 0, "00:00", "UTC", "2026-12-31 23:59:59 +0000", []string{"2027-01-01 00:00:00 +0000"}},
		{"zone with half an hour", 0, "00:00", "Asia/Kolkata", "2026-11-21 23:00:00 +0530", []string{"2026-11-22 00:00:00 +0530"}},
		{"summer begins", 0, "00:00", "Europe/Berlin", "2026-03-28 12:00:00 +0100", []string{"2026-03-29 00:00:00 +0100", "2026-03-30 00:00:00 +0200"}},
		{"summer ends", 0, "00:00", "Europe/Berlin", "2026-10-24 12:00:00 +0200", []string{"2026-10-25 00:00:00 +0200", "2026-10-26 00:00:00 +0100"}},
		{"hour that is skipped", 0, "02:30", "Europe/Berlin", "2026-03-28 12:00:00 +0100", []string{"2026-03-29 03:30:00 +0200", "2026-03-30 02:30:00 +0200"}},
		{"both", 6 * time.Hour, "13:00", "UTC", "2026-11-21 10:30:00 +0000", []string{"2026-11-21 12:00:00 +0000", "2026-11-21 13:00:00 +0000", "2026-11-21 18:00:00 +0000"}},
	} {
		s := newSchedule(&Config{Every: c.every, At: strings.Fields(c.at), Zone: zone(t, c.zone)})
		from, err := time.Parse(layout, c.from)
		must(t, err)
		var got []string
		for range c.want {
			from = s.next(from)
			got = append(got, from.In(zone(t, c.zone)).Format(layout))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %v\nwant %v", c.name, got, c.want)
		}
	}
}

// TestScheduleNextIsAfter checks each quarter of an hour of two years in zones
// that skip and repeat hours, also at midnight.
func TestScheduleNextIsAfter(t *testing.T) {
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Africa/Cairo", "Australia/Lord_Howe", "America/Santiago", "Asia/Beirut"} {
		s := newSchedule(&Config{At: []string{"00:00", "02:30"}, Zone: zone(t, name)})
		for at := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2027; at = at.Add(15 * time.Minute) {
			next := s.next(at)
			if wait := next.Sub(at); wait <= 0 || wait > 26*time.Hour {
				t.Fatalf("%s: after %v comes %v, %v later", name, at, next, wait)
			}
		}
		// Each day has one.
		daily := newSchedule(&Config{At: []string{"02:30"}, Zone: zone(t, name)})
		days, at := 0, time.Date(2025, 1, 1, 0, 0, 0, 0, daily.zone)
		for ; at.Year() < 2026; days++ {
			at = daily.next(at)
		}
		if days != 366 { // the last one is in 2026
			t.Errorf("%s: got %d times in 2025, want 365", name, days-1)
		}
	}
}

func TestScheduleDoesNotAllocate(t *testing.T) {
	s := newSchedule(&Config{Every: time.Hour, At: []string{"00:00"}, Zone: zone(t, "Europe/Berlin")})
	now := newTestClock().now()
	alloctest.Zero(t, func() { s.next(now) })
}

// stems returns the times in the names of the old files.
func stems(names []string) (list []string) {
	for _, name := range names {
		if b, ok := (&naming{stem: "app", ext: ".log"}).parse(name); ok {
			list = append(list, b.time.Format("15:04:05"))
		}
	}
	return list
}

func TestFilesBeginByTheClock(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{At: []string{"11:00", "12:00"}, Zone: time.UTC, Buffer: 0})
	log := func(n int) { t.Helper(); mustWrite(t, s, record(nib.LevelInfo, n, 0)) }
	log(0)
	clock.advance(30*time.Minute - 123456*time.Microsecond - 1) // 10:59:59.999999999
	log(1)
	clock.advance(1)
	log(2) // the first one of the new file, to the nanosecond
	clock.advance(time.Hour)
	clock.advance(time.Hour) // 13:00: one file for two that were due and empty
	log(3)
	log(4)
	clock.advance(24 * time.Hour)
	must(t, s.Rotate())
	log(5)
	clock.advance(time.Second)
	log(6)
	got := stems(memFiles(t, m))
	if want := []string{"11:00:00", "13:00:00", "13:00:00"}; !slices.Equal(got, want) {
		t.Errorf("got files of %v, want %v", got, want)
	}
	checkNumbers(t, memAll(t, m), 7)
}

func TestFileOfYesterdayIsEndedAfterARestart(t *testing.T) {
	m, clock := newMem(t)
	c := Config{At: []string{"00:00"}, Zone: time.UTC}
	s := openMem(t, m, clock, c)
	writeNumbers(t, s, 0, 1)
	must(t, s.Close())
	for i, want := range []int{0, 1, 1} { // same day, next day, next day again
		if i == 1 {
			clock.advance(24 * time.Hour)
		}
		s := openMem(t, m, clock, c)
		writeNumbers(t, s, i+1, i+2)
		must(t, s.Close())
		if got := stems(memFiles(t, m)); len(got) != want {
			t.Errorf("start %d: got %d old files, want %d", i, len(got), want)
		}
	}
	checkNumbers(t, memAll(t, m), 4)
}

// TestFileThatAnotherProcessHasJustBegun checks that a file that another
// process has just started is not ended again, although its modification time,
// by the clock of the file system, is before midnight.
func TestFileThatAnotherProcessHasJustBegun(t *testing.T) {
	m, clock := newMem(t)
	clock.set(time.Date(2026, 11, 21, 23, 59, 59, 998e6, time.UTC))
	s := openMem(t, m, clock, Config{})
	writeNumbers(t, s, 0, 1)
	clock.advance(5 * time.Millisecond)
	other := openMem(t, m, clock, Config{At: []string{"00:00"}, Zone: time.UTC})
	for n := 1; n < 5; n++ {
		clock.advance(time.Second)
		writeNumbers(t, other, n, n+1)
	}
	if got := memFiles(t, m); len(got) != 1 {
		t.Errorf("got files %q, want only the live one", got)
	}
}

// TestClockThatIsSet sets the clock forward and back by years.
func TestClockThatIsSet(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{Every: time.Hour})
	start := clock.now()
	n := 0
	log := func() {
		t.Helper()
		for range 10 {
			clock.advance(200 * time.Millisecond)
			writeNumbers(t, s, n, n+1)
			n++
		}
	}
	rotations := func(what string, want uint64) {
		t.Helper()
		log()
		if got := s.Stats().Rotations; got != want {
			t.Errorf("%s: got %d rotations in all, want %d", what, got, want)
		}
	}
	rotations("at first", 0)
	clock.set(start.AddDate(10, 0, 0))
	rotations("ten years later", 1)
	clock.set(start)
	rotations("and back", 1)
	clock.advance(time.Hour)
	rotations("an hour later", 2)
	clock.set(clock.now().Add(-time.Hour))
	rotations("an hour back", 2)
	clock.advance(30 * time.Minute)
	rotations("the same hour ends again", 3)
	lines, _, torn := parse(memAll(t, m))
	if len(lines) != n || len(torn) > 0 {
		t.Errorf("got %d lines, torn %q, want %d", len(lines), torn, n)
	}
}

// TestEmptyFileIsNotEndedByTheClock has no line for a while: the file that the
// next line starts is ended at the next time, and the empty one takes no turn.
func TestEmptyFileIsNotEndedByTheClock(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{At: []string{"11:00"}, Zone: time.UTC})
	turns := 0
	m.Fail(vfstest.Fault{Op: vfstest.OpLock, Path: lockName("app.log"), Reached: func() { turns++ }})
	clock.advance(time.Hour) // 11:30
	for n := range 3 {
		writeNumbers(t, s, n, n+1)
		clock.advance(time.Minute)
	}
	if got := memFiles(t, m); len(got) != 1 || turns > 0 {
		t.Errorf("got files %q and %d turns, want only the live one and no turn", got, turns)
	}
}

// TestPausesBetweenFailedRotationsByTheClock checks that a rotation that the
// clock requires is repeated after pauses that double, and that the name is not
// checked more often for it.
func TestPausesBetweenFailedRotationsByTheClock(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{Every: time.Second, OnError: func(error) {}})
	writeNumbers(t, s, 0, 1)
	clock.advance(time.Second - 123456*time.Microsecond)
	var attempts []int
	step, looks := 0, 0
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpNoReplace, Err: syscall.EACCES, Reached: func() { attempts = append(attempts, step) }})
	m.Fail(vfstest.Fault{Op: vfstest.OpLstat, Path: "app.log", Reached: func() { looks++ }})
	for ; step < 20; step++ {
		writeNumbers(t, s, step, step+2)
		clock.advance(100 * time.Millisecond)
	}
	if want := []int{0, 1, 3, 7, 15}; !slices.Equal(attempts, want) {
		t.Errorf("got attempts at %v tenths of a second, want %v", attempts, want)
	}
	if want := step + len(attempts); looks != want {
		t.Errorf("got %d checks of the name, want %d: each tenth of a second and each attempt", looks, want)
	}
	heal()
	clock.advance(10 * time.Second)
	writeNumbers(t, s, 0, 1)
	looks = 0
	if writeNumbers(t, s, 1, 2); looks != 0 || s.Stats().Rotations != 1 {
		t.Errorf("got %d checks just after a rotation and %+v, want none and 1 rotation", looks, s.Stats())
	}
}

// TestClockEndsAFileBetweenBatches checks that a batch of a spool ends the file
// only after the spool has stored the position.
func TestClockEndsAFileBetweenBatches(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{Every: time.Hour})
	s.Mark()
	deliverAll(t, s, *deskRecord(0))
	clock.advance(time.Hour)
	for step, want := range []struct {
		accepted  int
		rotations uint64
	}{{0, 0}, {0, 1}, {1, 1}} {
		res, err := s.Deliver(context.Background(), []nib.Record{*deskRecord(1)})
		if must(t, err); res.Accepted != want.accepted || s.Stats().Rotations != want.rotations {
			t.Errorf("step %d: got %+v and %d rotations, want %+v", step, res, s.Stats().Rotations, want)
		}
		if stop := s.SyncMark(); stop != (want.accepted == 0) {
			t.Errorf("step %d: SyncMark is %v", step, stop)
		}
		s.Mark()
	}
}
