// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package deliver

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// oldSize is the size of the lines of old segments.
const oldSize = 100

// recordAt returns the offset of record i of a segment, the first one being 0.
func recordAt(i int) int {
	return segment.HeaderSize + i*segment.Align(segment.RecordHead+oldSize)
}

// An edit changes the contents of a segment.
type edit = func(b []byte) []byte

// harm changes the line of a record.
func harm(i int) edit {
	return func(b []byte) []byte { b[recordAt(i)+segment.RecordHead]++; return b }
}

// unfinished makes a record one whose writer has not returned.
func unfinished(i int) edit {
	return func(b []byte) []byte { clear(b[recordAt(i):recordAt(i+1)]); return b }
}

// cut ends the file behind a record.
func cut(i int) edit {
	return func(b []byte) []byte { return b[:recordAt(i+1)] }
}

// An oldChain is a chain of segments that an earlier process has left in files
// in memory.
type oldChain struct {
	chainSpool
	fs *vfstest.Mem
}

func newOldChain(t *testing.T) *oldChain {
	t.Helper()
	s := &oldChain{fs: vfstest.NewMem(nil)}
	s.next, s.Closed = 1, true
	must(t, s.fs.MkdirAll(dirOfTest, 0o700))
	return s
}

// add adds a segment with so many lines, whose file has other contents than it
// should.
func (s *oldChain) add(t *testing.T, lines int, edits ...edit) *Link {
	t.Helper()
	l := s.grow(t, lines, oldSize)
	b := l.Live.Bytes()
	l.Live, l.End, l.Sure = nil, s.next, s.next
	for _, edit := range edits {
		b = edit(b)
	}
	s.put(t, store.SegmentName(l.Number), b)
	return l
}

// put writes a file.
func (s *oldChain) put(t *testing.T, name string, b []byte) {
	t.Helper()
	f, err := s.fs.Open(filepath.Join(dirOfTest, name), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	must(t, err)
	_, err = f.Write(b)
	must(t, err, f.Close())
}

// breakPage makes a page of a file unreadable, which is read as a whole and
// then page by page.
func (s *oldChain) breakPage(name string, page int) (heal func()) {
	const pages = segment.MinSize / segment.PageSize
	reads := 0
	return s.fs.Fail(vfstest.Fault{Err: syscall.EIO, Fits: func(op vfstest.Op, base string) bool {
		if op != vfstest.OpRead || base != name {
			return false
		}
		reads++
		at := (reads - 1) % (1 + pages)
		return at == 0 || at == 1+page
	}})
}

// deliveryOf returns a delivery of the chain, which has settled the first
// records already.
func (s *oldChain) deliveryOf(t *testing.T, dest delivery.Destination, settled uint64) *Delivery {
	t.Helper()
	d := newChain(t, &s.chainSpool, dest)
	d.Options.Name = nameOfTest
	_, err := d.OpenCursor(store.LookInto(s.fs, dirOfTest))
	must(t, err)
	d.opened, d.Settled, d.Recovered, d.Skipped = s.next, settled+1, 0, 0
	var old []segment.Old
	for _, l := range s.Links {
		l.Copied = l.Copied || l.Live != nil
		old = append(old, l.Old)
	}
	d.Expect(old, s.next)
	return d
}

// limit limits the batches of a delivery to so many records: by their number if
// it is odd, and otherwise by their bytes.
func limit(d *Delivery, most int) {
	if most%2 != 0 {
		d.batch = make([]nib.Record, 0, most)
		return
	}
	d.bufSize = most * (segment.RecordHead + oldSize)
	d.buf = make([]byte, 0, d.bufSize)
}

// A lack is a part that the first of two old segments of ten lines lacks.
type lack struct {
	name       string
	edits      []edit
	settled    uint64
	gone       []uint64 // that do not arrive
	damaged    uint64
	unfinished uint64
}

var lacks = []lack{
	{"nothing", nil, 0, nil, 0, 0},
	{"a damaged line", []edit{harm(4)}, 0, []uint64{5}, 1, 0},
	{"two damaged lines", []edit{harm(4), harm(5)}, 0, []uint64{5, 6}, 2, 0},
	{"two damaged lines apart", []edit{harm(2), harm(5)}, 0, []uint64{3, 6}, 2, 0},
	{"a damaged line at the beginning", []edit{harm(0)}, 0, []uint64{1}, 1, 0},
	{"a damaged line at the end", []edit{harm(9)}, 0, []uint64{10}, 1, 0},
	{"an unfinished line", []edit{unfinished(4)}, 0, []uint64{5}, 0, 1},
	{"an unfinished line at the end", []edit{unfinished(9)}, 0, []uint64{10}, 0, 1},
	{"the end of the file", []edit{cut(6)}, 0, []uint64{8, 9, 10}, 3, 0},
	{"one damaged and one unfinished line", []edit{harm(4), unfinished(7)}, 0, []uint64{5, 8}, 1, 1},
	{"an unfinished line and the end of the file", []edit{unfinished(2), cut(6)}, 0, []uint64{3, 8, 9, 10}, 3, 1},
	{"all lines", []edit{func(b []byte) []byte { clear(b[recordAt(0):]); return b }}, 0, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0, 10},
	{"a line that is settled", []edit{harm(1)}, 4, []uint64{1, 2, 3, 4}, 0, 0},
	{"the last line that is settled", []edit{harm(3)}, 4, []uint64{1, 2, 3, 4}, 0, 0},
	{"the first line that is not settled", []edit{harm(4)}, 4, []uint64{1, 2, 3, 4, 5}, 1, 0},
	{"lines on both sides of the position", []edit{harm(3), harm(4)}, 4, []uint64{1, 2, 3, 4, 5}, 1, 0},
	{"everything, settled already", []edit{func([]byte) []byte { return nil }}, 10, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0, 0},
}

// TestWhatIsMissingInOldSegments delivers two segments of ten lines. The first
// one lacks something. Committed records count as damaged, and others as
// unfinished; everything else arrives.
func TestWhatIsMissingInOldSegments(t *testing.T) {
	for _, c := range lacks {
		for _, most := range []int{1, 2, 3, 100} {
			synctest.Test(t, func(t *testing.T) {
				s := newOldChain(t)
				s.add(t, 10, c.edits...)
				s.add(t, 10)
				var got, want []uint64
				batches := 0
				p := scripted(nil, func(batch []nib.Record) {
					batches++
					for _, r := range batch {
						if got = append(got, r.Seq); r.PC != 0 {
							t.Errorf("%s: record %d has a program counter of another process", c.name, r.Seq)
						}
					}
				})
				d := s.deliveryOf(t, &p, c.settled)
				limit(d, most)
				run(t, d)
				if pieces := 2 + len(c.edits); most == 100 && batches > pieces || s.noted != 2 && c.settled < 10 {
					t.Errorf("%s: got %d batches, want up to %d", c.name, batches, pieces)
				}
				for seq := uint64(1); seq <= 20; seq++ {
					if !slices.Contains(c.gone, seq) {
						want = append(want, seq)
					}
				}
				damaged := d.Dropped[segment.CauseDamaged][level.Row(int(segment.LevelUnknown))]
				if !slices.Equal(got, want) || damaged != c.damaged || d.Unfinished != c.unfinished || d.Settled != 21 {
					t.Errorf("%s: got records %d, %d damaged, %d unfinished and position %d, want %d, %d, %d and 21", c.name, got, damaged, d.Unfinished, d.Settled, want, c.damaged, c.unfinished)
				}
				if d.Recovered != 20-c.settled || d.Skipped != 0 || len(s.errors) > 0 {
					t.Errorf("%s: got %d recovered, %d skipped and errors %q", c.name, d.Recovered, d.Skipped, s.errors)
				}
			})
		}
	}
}

// TestNumbersOfOldSegments has numbers between segments, records with numbers
// of the next segment, and a segment that stands for the next one as well,
// which is gone.
func TestNumbersOfOldSegments(t *testing.T) {
	for _, c := range []struct {
		name    string
		make    func(t *testing.T, s *oldChain)
		want    []uint64
		skipped uint64
		damaged uint64
	}{
		{"a gap", func(t *testing.T, s *oldChain) { s.add(t, 2); s.next += 3; s.add(t, 2) }, []uint64{1, 2, 6, 7}, 3, 0},
		{"a gap at the beginning", func(t *testing.T, s *oldChain) { s.next = 5; s.add(t, 2) }, []uint64{5, 6}, 4, 0},
		{"a segment without unfinished lines", func(t *testing.T, s *oldChain) { s.add(t, 3, unfinished(1)).Whole = true }, []uint64{1, 3}, 0, 1},
		{"a segment that is gone", func(t *testing.T, s *oldChain) {
			l := s.add(t, 2)
			l.End, l.Sure, l.Damaged = 6, 6, true
			s.next = 6
			s.add(t, 2)
		}, []uint64{1, 2, 6, 7}, 0, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newOldChain(t)
			c.make(t, s)
			var got []uint64
			p := scripted(nil, func(batch []nib.Record) {
				for _, r := range batch {
					got = append(got, r.Seq)
				}
			})
			d := s.deliveryOf(t, &p, 0)
			if d.Skipped != c.skipped {
				t.Errorf("%s: %d numbers are to be skipped, want %d", c.name, d.Skipped, c.skipped)
			}
			run(t, d)
			damaged := d.Dropped[segment.CauseDamaged][level.Row(int(segment.LevelUnknown))]
			if !slices.Equal(got, c.want) || damaged != c.damaged || d.Unfinished != 0 || d.Skipped != 0 || d.Settled != s.next || storedPosition(t, s.fs) != s.next {
				t.Errorf("%s: got records %d, %d damaged, %d skipped and position %d, want %d, %d, 0 and %d", c.name, got, damaged, d.Skipped, d.Settled, c.want, c.damaged, s.next)
			}
		})
	}
}

// TestRecordsBeyondTheEnd has records with the numbers of the next segment:
// they do not count, wherever a batch ends.
func TestRecordsBeyondTheEnd(t *testing.T) {
	for _, most := range []int{1, 3, 5} {
		synctest.Test(t, func(t *testing.T) {
			s := newOldChain(t)
			s.add(t, 6, harm(2), harm(3)).End = 4
			s.next = 4
			g := s.grow(t, 0, 0)
			at, seq, _ := g.Live.Reserve(segment.RecordHead + 4)
			g.Live.Write(at, segment.RecordHead+4, seq, &nib.Record{Line: []byte("next")}, -1)
			s.next++
			s.put(t, store.SegmentName(2), g.Live.Bytes())
			g.Live, g.End, g.Sure = nil, s.next, s.next
			var sizes []int
			p := scripted(nil, func(batch []nib.Record) {
				for _, r := range batch {
					sizes = append(sizes, len(r.Line))
				}
			})
			d := s.deliveryOf(t, &p, 0)
			limit(d, most)
			run(t, d)
			damaged := d.Dropped[segment.CauseDamaged][level.Row(int(segment.LevelUnknown))]
			if !slices.Equal(sizes, []int{oldSize, oldSize, 4}) || d.Settled != 5 || damaged != 1 {
				t.Errorf("batches of %d: got lines of %d bytes, %d damaged and position %d", most, sizes, damaged, d.Settled)
			}
		})
	}
}

// TestSettledSegmentsAreNotRead has two segments that are settled, the second
// one in part.
func TestSettledSegmentsAreNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newOldChain(t)
		s.add(t, 10)
		s.add(t, 10)
		s.fs.Fail(vfstest.Fault{Path: store.SegmentName(1), Reached: func() { t.Error("a settled segment is read") }})
		p := scripted(nil, func([]nib.Record) {})
		d := s.deliveryOf(t, &p, 10)
		if run(t, d); d.Delivered != 10 || d.Settled != 21 {
			t.Errorf("got %d records and position %d", d.Delivered, d.Settled)
		}
	})
}

// TestOldSegmentsWithoutADestination leaves files of an earlier process without
// reading them.
func TestOldSegmentsWithoutADestination(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newOldChain(t)
		s.add(t, 10)
		s.add(t, 10)
		opened := 0
		s.fs.Fail(vfstest.Fault{Path: "*" + store.SegmentExt, Reached: func() { opened++ }})
		d := newChain(t, &s.chainSpool, nil)
		d.dir = store.LookInto(s.fs, dirOfTest)
		run(t, d)
		if d.cur != s.Links[1] || d.Settled != 1 || opened > 0 || len(s.Links) != 2 {
			t.Errorf("got position %d, and %d files were opened", d.Settled, opened)
		}
	})
}

// TestReadingAheadStopsAtOldSegments has a segment that an Overlapper reads and
// a next one, which is not in memory any more and cannot be read: the records
// of the first one do not wait for it.
func TestReadingAheadStopsAtOldSegments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newOldChain(t)
		s.grow(t, 10, oldSize)
		second := s.grow(t, 10, oldSize)
		s.put(t, store.SegmentName(2), second.Live.Bytes())
		s.Links[0].Live.Seal()
		second.Live, second.End, second.Sure = nil, s.next, s.next
		heal := s.fs.Fail(vfstest.Fault{Op: vfstest.OpOpen, Path: store.SegmentName(2), Err: syscall.EMFILE})
		time.AfterFunc(time.Second, heal)
		begin := time.Now()
		o := &overlapping{}
		o.do = func(batch []nib.Record) (delivery.Result, error) {
			if took := time.Since(begin); batch[0].Seq == 1 && took > linger {
				t.Errorf("the first records arrive after %v", took)
			}
			return delivery.Result{Accepted: len(batch)}, nil
		}
		d := s.deliveryOf(t, o, 0)
		d.opened, d.Recovered, d.Skipped, d.Options.Tick = 1, 10, 0, 100*time.Millisecond
		run(t, d)
		if d.Delivered != 20 || d.Settled != 21 || len(s.errors) == 0 {
			t.Errorf("got %d records, position %d and errors %q", d.Delivered, d.Settled, s.errors)
		}
	})
}

// TestNumbersThatWereNeverGiven has a last segment of an earlier process that
// could not be read when it ended, so that the highest possible number was
// assumed for its last record: the numbers after that count as neither damaged
// nor unfinished.
func TestNumbersThatWereNeverGiven(t *testing.T) {
	for _, c := range []struct {
		name    string
		edit    func(b []byte) []byte
		sure    uint64
		gone    []uint64
		damaged uint64
		never   uint64
	}{
		{"whole", unfinished(9), 1, []uint64{10}, 0, 5 + 1},
		{"a damaged line at the end", harm(9), 1, []uint64{10}, 1, 5},
		{"a damaged line before", harm(8), 1, []uint64{9}, 1, 5},
		{"a damaged line at the end, whose number was given", harm(9), 11, []uint64{10}, 1, 5},
		{"numbers that were given", harm(9), 14, []uint64{10}, 4, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newOldChain(t)
			l := s.add(t, 10, c.edit)
			l.End, l.Sure, s.next = 16, c.sure, 16
			arrived := 0
			p := scripted(nil, func(batch []nib.Record) { arrived += len(batch) })
			d := s.deliveryOf(t, &p, 0)
			run(t, d)
			damaged := d.Dropped[segment.CauseDamaged][level.Row(int(segment.LevelUnknown))]
			if arrived != 10-len(c.gone) || damaged != c.damaged || d.Recovered != 15-c.never || d.Settled != 16 || d.Unfinished != 0 {
				t.Errorf("%s: got %d lines, %d damaged, %d recovered and position %d, want %d, %d, %d and 16", c.name, arrived, damaged, d.Recovered, d.Settled, 10-len(c.gone), c.damaged, 15-c.never)
			}
		})
	}
}

// TestOldSegmentThatCannotBeRead makes the file of the second of three segments
// fail for a while: delivery waits, with growing pauses, and nothing is lost.
func TestOldSegmentThatCannotBeRead(t *testing.T) {
	const times = 5
	for _, op := range []vfstest.Op{vfstest.OpOpen, vfstest.OpStat, vfstest.OpRead} {
		synctest.Test(t, func(t *testing.T) {
			s := newOldChain(t)
			for range 3 {
				s.add(t, 10)
			}
			s.fs.Fail(vfstest.Fault{Op: op, Path: "*" + store.SegmentName(2), Times: times, Err: syscall.EMFILE})
			d := s.deliveryOf(t, &plain{func(batch []nib.Record) (delivery.Result, error) {
				return delivery.Result{Accepted: len(batch)}, nil
			}}, 0)
			begin := time.Now()
			run(t, d)
			const least = (1 + 2 + 4 + 8 + 16) * time.Millisecond / 2
			if took := time.Since(begin); took < least || took > 2*least+times*time.Millisecond {
				t.Errorf("%s: waited %v, want up to %v", op, took, 2*least)
			}
			if d.Delivered != 30 || len(s.errors) != times || !strings.HasPrefix(s.errors[0], "read a segment: ") || d.Pause != 0 || d.again != (rereading{}) {
				t.Errorf("%s: got %d lines, errors %q, then a pause of %v", op, d.Delivered, s.errors, d.Pause)
			}
		})
	}
}

// TestBadPageOfAnOldSegment has a page that cannot be read: it counts as
// damaged when it has failed for a while and often enough, and the file is
// quarantined once.
func TestBadPageOfAnOldSegment(t *testing.T) {
	const lost = 28 // lines with a byte in the page
	for _, c := range []struct {
		name     string
		tick     time.Duration
		from, to time.Duration
		tries    int // 0: any number
		heal     time.Duration
	}{
		{"often enough before", time.Millisecond, GiveUpTime, GiveUpTime + LongestPause, 0, 0},
		{"long enough before", 2 * LongestPause, (giveUpTries - 1) * LongestPause, (giveUpTries - 1) * 2 * LongestPause, giveUpTries, 0},
		{"readable before", time.Millisecond, GiveUpTime - 2*LongestPause, GiveUpTime, 0, GiveUpTime - 2*LongestPause},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newOldChain(t)
			l := s.add(t, 100)
			s.add(t, 10)
			heal := s.breakPage(store.SegmentName(1), 2)
			want, quarantined := uint64(110-lost), 1
			if c.heal > 0 {
				want, quarantined = 110, 0
				time.AfterFunc(c.heal, heal)
			}
			p := scripted(nil, func([]nib.Record) {})
			d := s.deliveryOf(t, &p, 0)
			d.Options.Tick = c.tick
			begin := time.Now()
			run(t, d)
			damaged := d.Dropped[segment.CauseDamaged][level.Row(int(segment.LevelUnknown))]
			if took := time.Since(begin); took < c.from || took > c.to || c.tries > 0 && len(s.errors) != c.tries {
				t.Errorf("%s: got %d errors in %v, want %v to %v", c.name, len(s.errors), took, c.from, c.to)
			}
			if d.Delivered != want || damaged != 110-want || l.Quarantine != (quarantined == 1) || s.Quarantined != quarantined || d.Pause != 0 || d.again != (rereading{}) {
				t.Errorf("%s: got %d lines, %d damaged, %d files in quarantine and a pause of %v, want %d lines", c.name, d.Delivered, damaged, s.Quarantined, d.Pause, want)
			}
			d.reading = l
			if d.quarantine(); s.Quarantined != 1 {
				t.Errorf("%s: the file was quarantined %d times", c.name, s.Quarantined)
			}
		})
	}
}

// TestFileOfAnOldSegmentIsGone removes the file of a segment: its lines count
// as damaged, unless the whole directory is another one.
func TestFileOfAnOldSegmentIsGone(t *testing.T) {
	for _, c := range []struct {
		name    string
		lock    func(t *testing.T, s *oldChain) // changes the directory
		damaged uint64
		error   string // the first one
	}{
		{"only the file", func(*testing.T, *oldChain) {}, 10, ""},
		{"the lock file, too", func(t *testing.T, s *oldChain) { must(t, s.fs.Remove(filepath.Join(dirOfTest, "lock"))) }, 0, store.ErrReplaced.Error()},
		{"the lock file is not known", func(_ *testing.T, s *oldChain) {
			s.fs.Fail(vfstest.Fault{Op: vfstest.OpLstat, Path: "lock", Err: syscall.EACCES})
		}, 0, syscall.EACCES.Error()},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newOldChain(t)
			s.add(t, 10)
			s.add(t, 10)
			s.put(t, "lock", nil)
			p := scripted(nil, func([]nib.Record) {})
			d := s.deliveryOf(t, &p, 0)
			lock, err := s.fs.Open(filepath.Join(dirOfTest, "lock"), os.O_RDWR, 0)
			must(t, err)
			d.dir.Lock = lock
			must(t, s.fs.Remove(filepath.Join(dirOfTest, store.SegmentName(1))))
			c.lock(t, s)
			ctx, stop := context.WithCancel(t.Context())
			defer time.AfterFunc(time.Minute, stop).Stop()
			d.Options.Context = ctx
			begin := time.Now()
			run(t, d)
			damaged := d.Dropped[segment.CauseDamaged][level.Row(int(segment.LevelUnknown))]
			if waited := time.Since(begin) >= time.Minute; damaged != c.damaged || d.Delivered != c.damaged || d.Unfinished != 0 || waited != (c.damaged == 0) {
				t.Errorf("%s: got %d damaged, %d delivered, %d unfinished after %v, want %d damaged", c.name, damaged, d.Delivered, d.Unfinished, time.Since(begin), c.damaged)
			}
			if len(s.errors) == 0 || !strings.HasPrefix(s.errors[0], "read a segment: ") || !strings.Contains(s.errors[0], c.error) {
				t.Errorf("%s: got errors %q", c.name, s.errors)
			}
		})
	}
}

// TestOldSegmentIsReadAfterOneThatIsGone has a segment that cannot be read for
// a while and is gone then: the next one starts with a short pause.
func TestOldSegmentIsReadAfterOneThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newOldChain(t)
		s.add(t, 10)
		s.add(t, 10)
		heal := s.fs.Fail(vfstest.Fault{Op: vfstest.OpOpen, Path: store.SegmentName(1), Err: syscall.EMFILE})
		time.AfterFunc(10*time.Second, func() {
			heal()
			_ = s.fs.Remove(filepath.Join(dirOfTest, store.SegmentName(1)))
		})
		p := scripted(nil, func([]nib.Record) {})
		d := s.deliveryOf(t, &p, 0)
		run(t, d)
		if d.Delivered != 10 || d.Pause != 0 || d.again != (rereading{}) {
			t.Errorf("got %d lines and then a pause of %v", d.Delivered, d.Pause)
		}
	})
}

// TestTimeOfASegmentIsItsOwn has two segments that cannot be read at first. The
// time after which a page of the second one counts as damaged begins when that
// is read, whatever has become of the first one.
func TestTimeOfASegmentIsItsOwn(t *testing.T) {
	for _, gone := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newOldChain(t)
			s.add(t, 100)
			s.add(t, 100)
			if gone {
				heal := s.fs.Fail(vfstest.Fault{Op: vfstest.OpOpen, Path: store.SegmentName(1), Err: syscall.EMFILE})
				time.AfterFunc(GiveUpTime, func() {
					heal()
					_ = s.fs.Remove(filepath.Join(dirOfTest, store.SegmentName(1)))
				})
			} else {
				s.breakPage(store.SegmentName(1), 2)
			}
			s.breakPage(store.SegmentName(2), 2)
			p := scripted(nil, func([]nib.Record) {})
			d := s.deliveryOf(t, &p, 0)
			begin := time.Now()
			run(t, d)
			if took := time.Since(begin); took < 2*GiveUpTime {
				t.Errorf("gone=%v: the pages are given up after %v", gone, took)
			}
		})
	}
}
