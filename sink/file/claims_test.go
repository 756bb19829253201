// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/file/internal/mark"
)

// What the tests know of the formats of claims and marks.
const (
	claimSize     = 64
	maxClaims     = 256
	firstMarkSize = 32
	tailSize      = 512
)

var claimsPath = filepath.Join(logDir, claimsName("app.log"))

func readMark(b []byte) (mark.Position, bool) { return mark.Parse(b) }

// hasClaim reports whether a mark belongs to a claim.
func hasClaim(mark []byte) bool {
	p, ok := readMark(mark)
	return ok && p.Writer != 0
}

// TestDeliverWithoutClaims delivers when claims cannot be stored: lines are
// written, marks have no claim, and the reason is counted and reported, unless
// the system has no locks.
func TestDeliverWithoutClaims(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault vfstest.Fault
		other bool // another spool has an open claim
		want  error
	}{
		{name: "read-only", fault: vfstest.Fault{Op: vfstest.OpCreate, Err: fs.ErrPermission}, want: fs.ErrPermission},
		{name: "unreadable", fault: vfstest.Fault{Op: vfstest.OpRead, Skip: 1, Err: errDead}, want: errDead},
		{name: "cut off", fault: vfstest.Fault{Op: vfstest.OpRead, Half: true}, want: io.ErrUnexpectedEOF},
		{name: "not described", fault: vfstest.Fault{Op: vfstest.OpStat, Err: errDead}, want: errDead},
		{name: "full", fault: vfstest.Fault{Op: vfstest.OpWrite, Err: errDead}, want: errDead},
		{name: "full at the claim of another", fault: vfstest.Fault{Op: vfstest.OpWrite, Skip: 1, Times: 1, Err: errDead}, other: true, want: errDead},
		{name: "full later", fault: vfstest.Fault{Op: vfstest.OpWrite, Skip: 2, Err: errDead}, want: errDead},
		{name: "no locks", fault: vfstest.Fault{Op: vfstest.OpLock, Err: errors.ErrUnsupported}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, clock := newMem(t)
			other := openMem(t, m, clock, Config{})
			if other.Mark(); c.other {
				deliverAll(t, other, *deskRecord(0))
			}
			must(t, other.w.file.Close())
			other.dest.claims.Close()
			c.fault.Path = claimsName("app.log")
			heal := m.Fail(c.fault)
			var reported []error
			s := openMem(t, m, clock, Config{OnError: func(err error) { reported = append(reported, err) }})
			if first := c.fault.Skip == 0; hasClaim(s.Mark()) == first || first && c.want != nil && s.Stats().Errors == 0 {
				t.Errorf("the first mark has a claim, or there is no error: %+v", s.Stats())
			}
			for n := range 3 {
				if n > 0 || !c.other {
					deliverAll(t, s, *deskRecord(n))
				}
			}
			if hasClaim(s.Mark()) {
				t.Error("the mark has a claim")
			}
			if c.want == nil && (len(reported) > 0 || s.Stats().Errors > 0) {
				t.Errorf("got %v and %d errors, want none", reported, s.Stats().Errors)
			}
			if c.want != nil && (len(reported) != 1 || !errors.Is(reported[0], c.want) || s.Stats().Errors == 0) {
				t.Errorf("got %v and %d errors, want %v", reported, s.Stats().Errors, c.want)
			}
			heal()
			clock.advance(time.Minute)
			deliverAll(t, s, *deskRecord(3))
			if !hasClaim(s.Mark()) {
				t.Error("the mark has no claim when there is no fault any more")
			}
			checkNumbers(t, memAll(t, m), 4)
		})
	}
}

// TestClaimsThatAreDeleted deletes the file of claims: the next delivery makes
// another one. If it is deleted whenever it is locked, lines are written
// without claims.
func TestClaimsThatAreDeleted(t *testing.T) {
	m, clock := newMem(t)
	var reported error
	s := openMem(t, m, clock, Config{OnError: func(err error) { reported = err }})
	s.Mark()
	must(t, m.Remove(claimsPath))
	deliverAll(t, s, *deskRecord(0))
	if _, err := m.Lstat(claimsPath); err != nil || reported != nil || m.Opened() != 2 || !hasClaim(s.Mark()) {
		t.Errorf("got %v, reported %v, %d open files, want the log and the claims", err, reported, m.Opened())
	}
	tries := 0
	m.Fail(vfstest.Fault{Op: vfstest.OpLock, Path: claimsName("app.log"), Reached: func() {
		tries++
		_ = m.Remove(claimsPath)
	}})
	deliverAll(t, s, *deskRecord(1))
	if !errors.Is(reported, mark.ErrDeleted) || tries != openTries || hasClaim(s.Mark()) {
		t.Errorf("got %v after %d attempts, want %v", reported, tries, mark.ErrDeleted)
	}
	checkNumbers(t, memAll(t, m), 2)
}

// TestPausesBetweenAttemptsToClaim counts the attempts to lock the claims: the
// pauses grow, and start over after a success.
func TestPausesBetweenAttemptsToClaim(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{OnError: func(error) {}})
	s.Mark()
	tries, n := 0, 0
	fail := func() (heal func()) {
		return m.Fail(vfstest.Fault{Op: vfstest.OpStat, Path: claimsName("app.log"), Err: errDead, Reached: func() { tries++ }})
	}
	deliver := func(pause time.Duration) {
		clock.advance(pause)
		deliverAll(t, s, *deskRecord(n))
		n++
	}
	heal := fail()
	for range 600 {
		deliver(100 * time.Millisecond)
	}
	if tries < 8 || tries > 20 {
		t.Errorf("got %d attempts in a minute, want few", tries)
	}
	heal()
	deliver(time.Duration(longestRotate))
	writes := 0
	healWrites := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: claimsName("app.log"), Reached: func() { writes++ }})
	if deliver(0); !hasClaim(s.Mark()) || writes != 1 {
		t.Errorf("got %d writes of claims, want 1", writes)
	}
	healWrites()
	heal = fail()
	deliver(0)
	heal()
	deliver(time.Duration(firstRotate))
	if !hasClaim(s.Mark()) {
		t.Error("the pause after a success is not the first one")
	}
	checkNumbers(t, memAll(t, m), n)
}

// TestClaimsOfAnotherUserAreReported has a file of claims owned by another
// user: lines are written without claims, which is reported once.
func TestClaimsOfAnotherUserAreReported(t *testing.T) {
	const other = 4711
	m, clock := newMem(t)
	f, err := m.Open(claimsPath, os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err, f.Close())
	m.Chown(claimsPath, other)
	var reported []error
	s := openMem(t, m, clock, Config{OnError: func(err error) { reported = append(reported, err) }})
	s.Mark()
	for n := range 20 {
		deliverAll(t, s, *deskRecord(n))
		clock.advance(100 * time.Millisecond)
	}
	if hasClaim(s.Mark()) {
		t.Error("the mark has a claim")
	}
	if len(reported) != 1 || !errors.Is(reported[0], errOwner) || s.Stats().Errors == 0 {
		t.Errorf("got %v and %d errors, want %v once", reported, s.Stats().Errors, errOwner)
	}
	m.Chown(claimsPath, os.Geteuid())
	clock.advance(time.Minute)
	deliverAll(t, s, *deskRecord(20))
	if !hasClaim(s.Mark()) {
		t.Error("the mark has no claim when the file is ours")
	}
	checkNumbers(t, memAll(t, m), 21)
}

// TestMarkIsStoredBeforeLinesWithoutAClaim checks that the spool stores a mark
// without a claim before a line outside the last claim is written.
func TestMarkIsStoredBeforeLinesWithoutAClaim(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{OnError: func(error) {}})
	s.Mark()
	deliverAll(t, s, *deskRecord(0))
	if !hasClaim(s.Mark()) {
		t.Fatal("the mark has no claim")
	}
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: claimsName("app.log"), Err: errDead})
	batch := []nib.Record{*deskRecord(1)}
	res, err := s.Deliver(context.Background(), batch)
	if must(t, err); res.Accepted != 0 || !s.SyncMark() {
		t.Fatalf("got %+v, want a mark to be stored first", res)
	}
	mark := s.Mark()
	if hasClaim(mark) {
		t.Error("that mark has a claim")
	}
	res, err = s.Deliver(context.Background(), batch)
	if must(t, err); res.Accepted != 1 {
		t.Errorf("got %+v, want 1 accepted", res)
	}
	wantTaken(t, m.CrashClone(vfstest.Everything), clock, Config{}, mark, 1, *deskRecord(1), *deskRecord(2))
}

// TestDeliveryContinuesIfTheSpoolStoresNoMarks has a spool that does not call
// SyncMark: delivery continues.
func TestDeliveryContinuesIfTheSpoolStoresNoMarks(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{OnError: func(error) {}})
	s.Mark()
	deliverAll(t, s, *deskRecord(0))
	s.Mark()
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: claimsName("app.log"), Err: errDead})
	for _, want := range []int{0, 1} {
		res, err := s.Deliver(context.Background(), []nib.Record{*deskRecord(1)})
		if must(t, err); res.Accepted != want {
			t.Errorf("got %+v, want %d accepted", res, want)
		}
	}
}

// TestResumeWithoutAValidClaim checks that Resume finds all lines after the
// mark, as without claims, if the claim is missing or does not match the mark.
func TestResumeWithoutAValidClaim(t *testing.T) {
	for _, c := range []struct {
		name string
		boot uint64
		do   func(t *testing.T, m *vfstest.Mem)
	}{
		{"another run of the system", 2, func(*testing.T, *vfstest.Mem) {}},
		{"deleted", 1, func(t *testing.T, m *vfstest.Mem) { must(t, m.Remove(claimsPath)) }},
		{"empty", 1, func(t *testing.T, m *vfstest.Mem) { must(t, claimsFile(t, m).Truncate(0)) }},
		{"a directory", 1, func(t *testing.T, m *vfstest.Mem) { must(t, m.Remove(claimsPath), m.MkdirAll(claimsPath, 0o700)) }},
		{"of another user", 1, func(t *testing.T, m *vfstest.Mem) { m.Chown(claimsPath, os.Geteuid()+1) }},
		{"overwritten", 1, func(t *testing.T, m *vfstest.Mem) {
			_, err := claimsFile(t, m).WriteAt(make([]byte, 2*claimSize), 0)
			must(t, err)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, clock := newMem(t)
			s := openMem(t, m, clock, Config{})
			mark := s.Mark()
			deliverAll(t, s, *deskRecord(0))
			image := m.CrashClone(vfstest.Everything)
			c.do(t, image)
			s = wantTaken(t, image, clock, Config{boot: c.boot, OnError: func(error) {}}, mark, 1, *deskRecord(0), *deskRecord(1))
			s.Mark()
			deliverAll(t, s, *deskRecord(1))
			checkNumbers(t, memText(t, image, livePath), 2)
		})
	}
}

func claimsFile(t testing.TB, m *vfstest.Mem) vfs.File {
	t.Helper()
	f, err := m.Open(claimsPath, os.O_RDWR, 0)
	must(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestMarkThatIsOlderThanTheClaim checks that Resume finds all lines if the
// cursor could not be written after the claim.
func TestMarkThatIsOlderThanTheClaim(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	mark := s.Mark()
	for n := range 3 {
		deliverAll(t, s, *deskRecord(n))
	}
	batch := []nib.Record{*deskRecord(0), *deskRecord(1), *deskRecord(2), *deskRecord(3)}
	wantTaken(t, m.CrashClone(vfstest.Everything), clock, Config{}, mark, 3, batch...)
}

// TestMarkThatStaysOlderThanTheClaim has a cursor that cannot be written for
// longer: the next process delivers a record after it has found all of a batch,
// and the one after that finds that record, too.
func TestMarkThatStaysOlderThanTheClaim(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	mark := s.Mark()
	batch := []nib.Record{*deskRecord(0), *deskRecord(1), *deskRecord(2)}
	for _, r := range batch {
		deliverAll(t, s, r)
	}
	m = m.CrashClone(vfstest.Everything)
	s = wantTaken(t, m, clock, Config{}, mark, 3, batch...)
	next := *deskRecord(3)
	n, err := s.Resume(context.Background(), s.Mark(), []nib.Record{next})
	if must(t, err); n != 0 {
		t.Errorf("got %d more taken, want none", n)
	}
	deliverAll(t, s, next)
	wantTaken(t, m.CrashClone(vfstest.Everything), clock, Config{}, mark, 4, append(batch, next)...)
}

// TestResumeWithALockedFileOfClaims calls Resume on a sink that has written
// without success, when another process has the lock: it does not use claims
// that were read before.
func TestResumeWithALockedFileOfClaims(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{OnError: func(error) {}})
	s.Mark()
	deliverAll(t, s, *deskRecord(0))
	mark := s.Mark()
	m.Fail(vfstest.Fault{Op: vfstest.OpSync, Path: "app.log", Times: 1, Err: errDead})
	batch := []nib.Record{*deskRecord(1)}
	if _, err := s.Deliver(context.Background(), batch); !errors.Is(err, errDead) {
		t.Fatalf("got %v, want %v", err, errDead)
	}
	m.Fail(vfstest.Fault{Op: vfstest.OpLock, Path: claimsName("app.log"), Err: errDead})
	n, err := s.Resume(context.Background(), mark, batch)
	if must(t, err); n != 1 {
		t.Errorf("got %d taken, want 1", n)
	}
}

// TestResumeWithoutAClaimStartsAtTheMark has a mark behind a partial line: a
// line before it, which is the same as a record, does not count as that record.
func TestResumeWithoutAClaimStartsAtTheMark(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	mustWrite(t, s, deskRecord(0))
	appendTo(t, m, "partial")
	mark := s.Mark()
	must(t, m.Remove(claimsPath))
	wantTaken(t, m.CrashClone(vfstest.Everything), clock, Config{}, mark, 0, *deskRecord(0))
}

// TestClaimOfANewWriterIsEnded has a spool begin later than another one, and
// die without writing: a line that the other one writes then does not count as
// its own.
func TestClaimOfANewWriterIsEnded(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	s.Mark()
	deliverAll(t, s, *deskRecord(0))
	other := fork(t, s)
	mark := other.Mark()
	batch := []nib.Record{*deskRecord(1)}
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "app.log", Err: errDead})
	if _, err := other.Deliver(context.Background(), batch); !errors.Is(err, errDead) {
		t.Fatalf("got %v, want %v", err, errDead)
	}
	heal()
	deliverAll(t, s, batch...)
	wantTaken(t, m.CrashClone(vfstest.Everything), clock, Config{}, mark, 0, batch...)
}

// TestMarkDoesNotClaimAgain checks that Mark does not use the file of claims
// when it has a claim of the sink, even if a later one could not be written.
func TestMarkDoesNotClaimAgain(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{OnError: func(error) {}})
	s.Mark()
	unused := func() {
		t.Helper()
		clock.advance(time.Duration(longestRotate))
		used := false
		heal := m.Fail(vfstest.Fault{Path: claimsName("app.log"), Reached: func() { used = true }})
		s.Mark()
		if heal(); used {
			t.Error("Mark uses the file of claims")
		}
	}
	deliverAll(t, s, *deskRecord(0))
	unused()
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: claimsName("app.log"), Err: errDead})
	deliverAll(t, s, *deskRecord(1))
	unused()
}

// TestResumeIsRepeated has processes that die after Resume: the next one gets
// the same result.
func TestResumeIsRepeated(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	s.Mark()
	other := fork(t, s)
	deliverAll(t, s, *deskRecord(0))
	mark := s.Mark()
	deliverAll(t, s, *deskRecord(1), *deskRecord(2))
	deliverAll(t, other, *deskRecord(3))
	m = m.CrashClone(vfstest.Everything)
	batch := []nib.Record{*deskRecord(1), *deskRecord(2), *deskRecord(3)}
	for range 3 {
		wantTaken(t, m, clock, Config{}, mark, 2, batch...)
	}
	s = wantTaken(t, m, clock, Config{}, mark, 1, batch[0]) // the whole batch, so Resume is called again
	n, err := s.Resume(context.Background(), s.Mark(), batch[1:])
	if must(t, err); n != 1 {
		t.Errorf("got %d more taken, want 1", n)
	}
	wantTaken(t, m, clock, Config{}, s.Mark(), 0, batch[2])
}

// TestManyWriters has more processes store claims than fit into the file: the
// file does not grow, and the latest claims stay.
func TestManyWriters(t *testing.T) {
	m, clock := newMem(t)
	first := openMem(t, m, clock, Config{})
	first.Mark()
	var marks [][]byte
	for range maxClaims + 20 {
		s := openMem(t, m, clock, Config{})
		marks = append(marks, s.Mark())
		deliverAll(t, s, *deskRecord(0))
		deliverAll(t, first, *deskRecord(1))
		first.Mark()
		must(t, s.Close())
	}
	info, err := m.Lstat(claimsPath)
	if must(t, err); info.Size != maxClaims*claimSize {
		t.Errorf("the claims have %d bytes, want %d", info.Size, maxClaims*claimSize)
	}
	image := m.CrashClone(vfstest.Everything)
	for _, mark := range marks[len(marks)-maxClaims+1:] {
		s := openMem(t, image, clock, Config{})
		n, err := s.Resume(context.Background(), mark, []nib.Record{*deskRecord(0), *deskRecord(1)})
		must(t, err, s.Close())
		if n != 1 {
			t.Fatalf("got %d taken, want 1", n)
		}
	}
}

// TestNoClaims checks that a closed sink does not open the file of claims, nor
// does a sink that cannot identify the run of the system.
func TestNoClaims(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{boot: 7})
	s.Mark()
	if s.dest.claims.Boot != 7 {
		t.Errorf("got boot %d, want the Config's", s.dest.claims.Boot)
	}
	must(t, s.Close())
	s.Mark()
	if n := m.Opened(); n != 0 {
		t.Errorf("got %d open files after Close, want none", n)
	}
	must(t, m.Remove(claimsPath))
	s = openMem(t, m, clock, Config{boot: 7})
	must(t, s.Close())
	s.Mark()
	s = openMem(t, m, clock, Config{})
	s.mu.Lock()
	s.dest.claims.Boot = 0
	if s.dest.claims.Lock() {
		t.Error("the claims are locked without a boot id")
	}
	s.mu.Unlock()
	if _, err := m.Lstat(claimsPath); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want no file of claims", err)
	}
}
