// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// viewed are how many lines the spools of these tests have: 247 in the first
// segment, 247 in the second one, and 206 in the third one.
const viewed = 700

func viewOf(t *testing.T, fsys vfs.FS) *View {
	t.Helper()
	v, err := inspect(fsys, memDir)
	must(t, err)
	return v
}

// offsetOf returns the offset of the record at index i of a segment with lines
// of 200 bytes.
func offsetOf(i int) int { return segment.HeaderSize + i*segment.Align(segment.RecordHead+200) }

// erase clears the records at the indexes from first up to end, as if their
// calls had claimed them and had written nothing.
func erase(t *testing.T, m *vfstest.Mem, number uint64, first, end int) {
	t.Helper()
	edit(t, m, store.SegmentName(number), func(b []byte) { clear(b[offsetOf(first):offsetOf(end)]) })
}

// damage changes a bit in a line.
func damage(t *testing.T, m *vfstest.Mem, number uint64, index int) {
	t.Helper()
	edit(t, m, store.SegmentName(number), func(b []byte) { b[offsetOf(index)+100] ^= 4 })
}

// putFile writes a file in memDir.
func putFile(t *testing.T, m *vfstest.Mem, name string, b []byte) {
	t.Helper()
	f, err := m.Open(filepath.Join(memDir, name), os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err)
	_, err = f.WriteAt(b, 0)
	must(t, err, f.Close())
}

// contentOf returns the contents of a file in memDir.
func contentOf(t *testing.T, m *vfstest.Mem, name string) (content []byte) {
	t.Helper()
	edit(t, m, name, func(b []byte) { content = slices.Clone(b) })
	return content
}

func removeFile(t *testing.T, m *vfstest.Mem, number uint64) {
	t.Helper()
	must(t, m.Remove(filepath.Join(memDir, store.SegmentName(number))))
}

// putCursor stores the progress of a destination.
func putCursor(t *testing.T, m *vfstest.Mem, name string, spool, seq uint64) {
	t.Helper()
	b := make([]byte, store.SlotSize)
	store.PutSlot(b, 1, store.Position{Spool: spool, Seq: seq}, nil)
	putFile(t, m, name+store.CursorExt, b)
}

// hold locks the spool, as a process does that has it open.
func hold(t *testing.T, m *vfstest.Mem) {
	t.Helper()
	f, err := m.Open(filepath.Join(memDir, "lock"), os.O_RDWR, 0)
	must(t, err, f.Lock(vfs.Exclusive))
	t.Cleanup(func() { must(t, f.Close()) })
}

// gapsOf returns the gaps without their errors, which are checked, and the
// numbers of the records.
func gapsOf(t *testing.T, v *View, from uint64) (gaps []Gap, seqs []uint64) {
	t.Helper()
	for r, g := range v.Records(from) {
		if g.Kind == "" {
			seqs = append(seqs, r.Seq)
			continue
		}
		if (g.Kind == GapUnreadable) != (g.Err != nil) || g.Err != nil && !errors.Is(g.Err, syscall.EIO) {
			t.Errorf("the error of the gap %v at %d is %v", g.Kind, g.First, g.Err)
		}
		g.Err = nil
		gaps = append(gaps, g)
	}
	return gaps, seqs
}

// TestGapsHaveTheRightNumbers damages spools and compares the gaps.
func TestGapsHaveTheRightNumbers(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(t *testing.T, m *vfstest.Mem)
		from uint64
		want []Gap

		records int
	}{
		{"calls that did not return", func(t *testing.T, m *vfstest.Mem) { erase(t, m, 1, 10, 13) },
			0, []Gap{{11, 3, GapUnfinished, nil}}, 697},
		{"from a number without a record on", func(t *testing.T, m *vfstest.Mem) { erase(t, m, 1, 10, 13) },
			12, []Gap{{12, 2, GapUnfinished, nil}}, 687},
		{"from the number after it on", func(t *testing.T, m *vfstest.Mem) { erase(t, m, 1, 10, 13) },
			14, nil, 687},
		{"the last call of a segment did not return", func(t *testing.T, m *vfstest.Mem) { erase(t, m, 1, 246, 247) },
			0, []Gap{{247, 1, GapUnfinished, nil}}, 699},
		{"the same, and a missing segment", func(t *testing.T, m *vfstest.Mem) {
			erase(t, m, 1, 10, 11)
			removeFile(t, m, 2)
		}, 0, []Gap{{11, 1, GapUnfinished, nil}, {248, 247, GapAbsent, nil}}, 452},
		{"damage in front of a missing segment", func(t *testing.T, m *vfstest.Mem) {
			damage(t, m, 1, 246)
			removeFile(t, m, 2)
		}, 0, []Gap{{247, 248, GapDamaged, nil}}, 452},
		{"damage after the last record of a segment", func(t *testing.T, m *vfstest.Mem) {
			edit(t, m, store.SegmentName(1), func(b []byte) { b[len(b)-20] = 1 })
		}, 0, nil, 700},
		{"the last record", func(t *testing.T, m *vfstest.Mem) { damage(t, m, 3, 205) },
			0, []Gap{{700, 0, GapDamaged, nil}}, 699},
		{"the last record, from there on", func(t *testing.T, m *vfstest.Mem) { damage(t, m, 3, 205) },
			700, []Gap{{700, 0, GapDamaged, nil}}, 0},
		{"a missing segment, settled in part by two destinations", func(t *testing.T, m *vfstest.Mem) {
			id := viewOf(t, m).ID
			putCursor(t, m, "a", id, 300)
			putCursor(t, m, "b", id, 260)
			removeFile(t, m, 2)
		}, 0, []Gap{{260, 235, GapAbsent, nil}}, 453},
		{"the same the other way round", func(t *testing.T, m *vfstest.Mem) {
			id := viewOf(t, m).ID
			putCursor(t, m, "a", id, 260)
			putCursor(t, m, "b", id, 300)
			removeFile(t, m, 2)
		}, 0, []Gap{{260, 235, GapAbsent, nil}}, 453},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := memBacklog(t, viewed, 200, SyncNever)
			must(t, m.Remove(filepath.Join(memDir, defaultName+store.CursorExt)))
			c.harm(t, m)
			gaps, seqs := gapsOf(t, viewOf(t, m), c.from)
			if !slices.Equal(gaps, c.want) {
				t.Errorf("got the gaps %v, want %v", gaps, c.want)
			}
			if len(seqs) != c.records || !slices.IsSorted(seqs) || len(seqs) > 0 && seqs[0] < c.from {
				t.Errorf("got the records %v, want %d from %d on", seqs, c.records, c.from)
			}
		})
	}
}

// TestGapsBesideAnUnreadablePage has a page that cannot be read, and in another
// page of the same segment a call that did not return.
func TestGapsBesideAnUnreadablePage(t *testing.T) {
	m := memBacklog(t, viewed, 200, SyncNever)
	erase(t, m, 1, 10, 11)
	b := badSector{m, store.SegmentName(1), segment.HeaderSize + 4*segment.PageSize, new(atomic.Bool)}
	b.on.Store(true)
	first := 4*segment.PageSize/(offsetOf(1)-offsetOf(0)) + 1
	end := 5*segment.PageSize/(offsetOf(1)-offsetOf(0)) + 1
	gaps, seqs := gapsOf(t, viewOf(t, b), 0)
	want := []Gap{{11, 1, GapUnfinished, nil}, {uint64(first), uint64(end-first) + 1, GapUnreadable, nil}}
	if !slices.Equal(gaps, want) || len(seqs) != viewed-1-(end-first)-1 {
		t.Errorf("got %d records and the gaps %v, want %v", len(seqs), gaps, want)
	}
}

// opens counts how often a file is opened, from now on. At the call with number
// at it calls f, whose calls do not count.
func opens(m *vfstest.Mem, name string, at int, f func()) (n *int) {
	n = new(int)
	inside := false
	m.Fail(vfstest.Fault{Op: vfstest.OpOpen, Path: name, Reached: func() {
		if inside {
			return
		}
		if *n++; *n == at {
			inside = true
			f()
			inside = false
		}
	}})
	return n
}

// TestRecordsReadsAgain has damage in two places of a segment. While a process
// has the spool open, each is read again up to attempts times: it may be in the
// middle of a write. The second one is whole by the second attempt.
func TestRecordsReadsAgain(t *testing.T) {
	both := []Gap{{11, 1, GapDamaged, nil}, {51, 1, GapDamaged, nil}}
	for _, c := range []struct {
		alive  bool
		repair int // before this read
		want   []Gap
		reads  int
	}{
		{false, 0, both, 1},
		{true, 0, both, 1 + 2*attempts},
		{true, 1 + attempts + 2, both[:1], 1 + attempts + 2},
	} {
		m := memBacklog(t, viewed, 200, SyncNever)
		damage(t, m, 1, 10)
		damage(t, m, 1, 50)
		if c.alive {
			hold(t, m)
		}
		v := viewOf(t, m)
		n := opens(m, store.SegmentName(1), c.repair, func() { damage(t, m, 1, 50) }) // the same bit again
		if gaps, seqs := gapsOf(t, v, 0); !slices.Equal(gaps, c.want) || len(seqs) != viewed-len(c.want) || *n != c.reads {
			t.Errorf("%+v: got %d records, the gaps %v and %d reads", c, len(seqs), gaps, *n)
		}
	}
}

// TestRecordsReadsNoSegmentBefore asks for the records of the second segment.
func TestRecordsReadsNoSegmentBefore(t *testing.T) {
	m := memBacklog(t, viewed, 200, SyncNever)
	v := viewOf(t, m)
	n := opens(m, store.SegmentName(1), 0, nil)
	if _, seqs := gapsOf(t, v, 248); len(seqs) != viewed-247 || *n != 0 {
		t.Errorf("got %d records, and the first segment was read %d times", len(seqs), *n)
	}
}

// TestRecordsEndWhereInspectSawTheEnd writes to a spool after Inspect, which
// could not find out whether a process has it open.
func TestRecordsEndWhereInspectSawTheEnd(t *testing.T) {
	for _, harmed := range []bool{false, true} {
		m := vfstest.NewMem(nil)
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		s := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever})
		for n := range 10 {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
		}
		heal := m.Fail(vfstest.Fault{Op: vfstest.OpLock, Err: syscall.EPERM})
		v := viewOf(t, m)
		heal()
		for n := range 3 {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
		}
		if harmed {
			damage(t, m, 1, 10)
		}
		if gaps, seqs := gapsOf(t, v, 0); v.Owner != OwnerUnknown || len(seqs) != 10 || len(gaps) > 0 {
			t.Errorf("got owner %v, %d records and the gaps %v, want unknown, 10 and none", v.Owner, len(seqs), gaps)
		}
	}
}

// TestRecordsHaveNoProgramCounter writes a record with one, which means nothing
// in another process.
func TestRecordsHaveNoProgramCounter(t *testing.T) {
	m := vfstest.NewMem(nil)
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	s := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever})
	r := record(nib.LevelInfo, 0, 200)
	r.PC = 4711
	must(t, s.WriteRecord(r), s.Close())
	n := 0
	for r, g := range viewOf(t, m).Records(0) {
		if n++; r.PC != 0 || g.Kind != "" {
			t.Errorf("got the program counter %d and the gap %v", r.PC, g)
		}
	}
	if n != 1 {
		t.Errorf("got %d records, want 1", n)
	}
}

// TestInspectCountsFiles has a spool with copies, quarantined files, and a
// segment that was created in advance.
func TestInspectCountsFiles(t *testing.T) {
	m := memBacklog(t, viewed, 200, SyncSoon)
	for _, name := range []string{"0000000000000009.seg.bad", "x.bad", "0000000000000008.seg.made"} {
		putFile(t, m, name, []byte("x"))
	}
	v := viewOf(t, m)
	spare := make([]byte, segment.MinSize)
	segment.PutHeader(spare, segment.Identity{Spool: v.ID, Number: 4, Gen: 1, Stream: 5, Size: segment.MinSize})
	putFile(t, m, store.SegmentName(4), spare)

	v = viewOf(t, m)
	bytes := int64(0)
	names, err := m.ReadDir(memDir)
	must(t, err)
	for _, name := range names {
		info, err := m.Lstat(filepath.Join(memDir, name))
		must(t, err)
		if _, ok := store.SegmentNumber(name); ok {
			bytes += info.Size
		}
	}
	if len(memNames(t, m, store.CopyExt)) == 0 {
		t.Error("there is no copy")
	}
	if len(v.Segments) != 3 || v.Spare != segment.MinSize || v.Bytes != bytes {
		t.Errorf("got %d segments, %d bytes created in advance and %d in total, want 3, %d and %d",
			len(v.Segments), v.Spare, v.Bytes, segment.MinSize, bytes)
	}
	if want := []string{"0000000000000009.seg.bad"}; !slices.Equal(v.Quarantined, want) || len(v.Bad) > 0 || len(v.Unread) > 0 {
		t.Errorf("got the quarantined files %q, want %q; bad %q, unread %q", v.Quarantined, want, v.Bad, v.Unread)
	}
	if v.First.UnixNano() != 0 || v.Last.UnixNano() != viewed-1 {
		t.Errorf("got times from %d to %d, want from 0 to %d", v.First.UnixNano(), v.Last.UnixNano(), viewed-1)
	}
	if n := m.Opened(); n > 0 {
		t.Errorf("%d files are open", n)
	}
}

// TestInspectWithoutSegments inspects directories in which there are no
// segments, or slots besides.
func TestInspectWithoutSegments(t *testing.T) {
	m := vfstest.NewMem(nil)
	slot := filepath.Join(memDir, store.SlotName(1))
	must(t, m.MkdirAll(memDir, 0o700))
	if _, err := inspect(m, memDir); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "slots") {
		t.Errorf("without a file: got %v, want fs.ErrNotExist and no word of slots", err)
	}
	must(t, m.MkdirAll(slot, 0o700))
	if _, err := inspect(m, memDir); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), store.SlotName(1)) {
		t.Errorf("with a slot: got %v, want fs.ErrNotExist and its name", err)
	}
	putFile(t, m, "lock", nil)
	putFile(t, m, "a"+store.CursorExt, nil)
	v := viewOf(t, m)
	if want := []DestinationInfo{{Name: "a"}}; len(v.Segments) > 0 || v.ID != 0 || !slices.Equal(v.Destinations, want) {
		t.Errorf("with a lock: got %+v, want the destinations %+v", v, want)
	}
	for skip := range 2 {
		heal := m.Fail(vfstest.Fault{Op: vfstest.OpReadDir, Skip: skip, Times: 1, Err: syscall.EIO})
		if _, err := inspect(m, memDir); !errors.Is(err, syscall.EIO) {
			t.Errorf("after %d listings: got %v, want EIO", skip, err)
		}
		heal()
	}
}

// TestInspectBesideDeletion deletes a file between the listing and the look at
// it: the directory is listed again. After that, its end is not known.
func TestInspectBesideDeletion(t *testing.T) {
	for _, op := range []vfstest.Op{vfstest.OpLstat, vfstest.OpOpen} {
		m := memBacklog(t, viewed, 200, SyncNever)
		m.Fail(vfstest.Fault{Op: op, Path: store.SegmentName(2), Times: 1, Err: fs.ErrNotExist})
		if v := viewOf(t, m); len(v.Segments) != 3 {
			t.Errorf("%s: got %d segments, want 3", op, len(v.Segments))
		}
	}
	for err, want := range map[error][]string{fs.ErrNotExist: nil, syscall.EIO: {store.SegmentName(3)}} {
		m := memBacklog(t, viewed, 200, SyncNever)
		m.Fail(vfstest.Fault{Op: vfstest.OpOpen, Path: store.SegmentName(3), Skip: 1, Err: err})
		if v := viewOf(t, m); len(v.Segments) != 3 || !slices.Equal(v.Unread, want) {
			t.Errorf("%v: got %d segments, and unread are %q, want %q", err, len(v.Segments), v.Unread, want)
		}
	}
	m := memBacklog(t, viewed, 200, SyncNever)
	hold(t, m)
	m.Fail(vfstest.Fault{Op: vfstest.OpRead, Path: store.SegmentName(2), Err: syscall.EIO})
	if v, want := viewOf(t, m), []string{store.SegmentName(2)}; !slices.Equal(v.Unread, want) || len(v.Bad) > 0 {
		t.Errorf("beside a process: unread are %q, want %q; bad are %q", v.Unread, want, v.Bad)
	}
}

// TestInspectChoosesLikeAStart inspects spools with files that do not belong
// there, and copies in place of segments.
func TestInspectChoosesLikeAStart(t *testing.T) {
	start := func(b []byte) { clear(b[64:]) } // of a segment that a power failure has emptied
	for _, c := range []struct {
		name            string
		harm            func(t *testing.T, m *vfstest.Mem)
		segments, spare int
		bad             []string
	}{
		{"a segment under another name", func(t *testing.T, m *vfstest.Mem) {
			putFile(t, m, store.SegmentName(9), contentOf(t, m, store.SegmentName(2)))
		}, 3, 0, []string{store.SegmentName(9)}},
		{"a segment of another spool", func(t *testing.T, m *vfstest.Mem) {
			putFile(t, m, store.SegmentName(4), contentOf(t, memBacklog(t, 4*247, 200, SyncNever), store.SegmentName(4)))
		}, 3, 0, []string{store.SegmentName(4)}},
		{"a copy of a segment that has lost its start", func(t *testing.T, m *vfstest.Mem) {
			putFile(t, m, store.CopyName(3), contentOf(t, m, store.SegmentName(3)))
			edit(t, m, store.SegmentName(3), start)
		}, 3, 0, nil},
		{"a copy of an earlier segment with the number", func(t *testing.T, m *vfstest.Mem) {
			b := contentOf(t, m, store.SegmentName(3))
			putFile(t, m, store.CopyName(3), b)
			edit(t, m, store.SegmentName(3), func(b []byte) {
				start(b)
				segment.PutHeader(b, segment.Identity{Spool: viewOf(t, m).ID, Number: 3, Gen: 7, Stream: 5, Size: segment.MinSize})
			})
		}, 2, 2 * segment.MinSize, nil},
		{"a header", func(t *testing.T, m *vfstest.Mem) {
			edit(t, m, store.SegmentName(3), func(b []byte) { b[20]++ })
		}, 2, 0, []string{store.SegmentName(3)}},
		{"a start", func(t *testing.T, m *vfstest.Mem) {
			edit(t, m, store.SegmentName(3), func(b []byte) { b[64]++ })
		}, 2, 0, []string{store.SegmentName(3)}},
		{"a start that is being written", func(t *testing.T, m *vfstest.Mem) {
			edit(t, m, store.SegmentName(3), func(b []byte) { b[64]++ })
			hold(t, m)
		}, 2, segment.MinSize, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := memBacklog(t, viewed, 200, SyncNever)
			c.harm(t, m)
			v := viewOf(t, m)
			if len(v.Segments) != c.segments || v.Spare != int64(c.spare) || !slices.Equal(v.Bad, c.bad) || len(v.Unread) > 0 {
				t.Errorf("got %d segments, %d bytes created in advance, and the bad files %q; want %d, %d and %q", len(v.Segments), v.Spare, v.Bad, c.segments, c.spare, c.bad)
			}
			if v.Owner == OwnerNone {
				if got, n := walkAll(v, 0), v.Numbers; len(got.lines) == 0 ||
					uint64(len(got.lines)) != n || len(got.gaps) > 0 {
					t.Errorf("got %d records of %d and the gaps %v", len(got.lines), n, got.gaps)
				}
				st := statsOfStart(t, m)
				if st.Bad != len(c.bad) || st.Recovered != v.Numbers {
					t.Errorf("a start has found %d lines and quarantined %d files, Inspect saw %d "+
						"and %q", st.Recovered, st.Bad, v.Numbers, v.Bad)
				}
			}
		})
	}
}

// statsOfStart opens a spool and closes it.
func statsOfStart(t *testing.T, m *vfstest.Mem) Stats {
	t.Helper()
	s := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, OnError: func(error) {}})
	must(t, s.Close())
	return s.Stats()
}

// TestHeaderThatIsBeingWritten damages a header until it has been looked at
// twice. It is read again if a process has the spool open.
func TestHeaderThatIsBeingWritten(t *testing.T) {
	for _, alive := range []bool{false, true} {
		m := memBacklog(t, viewed, 200, SyncNever)
		flip := func() { edit(t, m, store.SegmentName(3), func(b []byte) { b[20] ^= 1 }) }
		flip()
		if alive {
			hold(t, m)
		}
		n := opens(m, store.SegmentName(3), 3, flip)
		v := viewOf(t, m)
		if alive && (len(v.Segments) != 3 || len(v.Bad) > 0) {
			t.Errorf("with a process: got %d segments and the bad files %q, want 3 and none", len(v.Segments), v.Bad)
		}
		if !alive && (*n != 1 || len(v.Bad) != 1) {
			t.Errorf("without a process: the header was read %d times, and the bad files are %q", *n, v.Bad)
		}
	}
}

// TestInspectCursors has cursors of the spool and of another one, files that
// have no cursor, and a cursor of a later version.
func TestInspectCursors(t *testing.T) {
	m := memBacklog(t, viewed, 200, SyncNever)
	id := viewOf(t, m).ID
	must(t, m.Remove(filepath.Join(memDir, defaultName+store.CursorExt)))
	putCursor(t, m, "a", id, 300)
	putCursor(t, m, "b", id+1, 300)
	putCursor(t, m, "c", id, 300)
	edit(t, m, "c"+store.CursorExt, func(b []byte) {
		b[8] = 7
		end := store.SlotSize - 4
		sum := segment.Checksum(b[:end])
		b[end], b[end+1], b[end+2], b[end+3] = byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24)
	})
	for _, name := range []string{"", "x y"} {
		putCursor(t, m, name, id, 5)
	}
	must(t, m.MkdirAll(filepath.Join(memDir, "d"+store.CursorExt), 0o700))
	v := viewOf(t, m)
	want := []DestinationInfo{{Name: "a", Known: true, Settled: 300, Pending: 401}, {Name: "b", Pending: viewed}, {Name: "c", Pending: viewed}}
	if !slices.Equal(v.Destinations, want) {
		t.Errorf("got the destinations %+v, want %+v", v.Destinations, want)
	}
	if want := []string{"c" + store.CursorExt}; !slices.Equal(v.Unread, want) {
		t.Errorf("unread are %q, want %q", v.Unread, want)
	}
	if n := m.Opened(); n > 0 {
		t.Errorf("%d files are open", n)
	}
}

// TestInspectFindsAnUnreadableEnd has a page of the last segment that cannot be
// read, with lines that are not in the copy, if there is one: as many lines may
// be pending as fit there.
func TestInspectFindsAnUnreadableEnd(t *testing.T) {
	const last = segment.HeaderSize + 3*segment.PageSize
	for _, sync := range []SyncPolicy{SyncNever, SyncSoon} {
		m := memBacklog(t, 300, 200, sync)
		if sync == SyncSoon { // the last lines were not copied yet
			edit(t, m, store.CopyName(2), func(b []byte) { clear(b[last:]) })
		}
		b := badSector{m, store.SegmentName(2), last, new(atomic.Bool)}
		b.on.Store(true)
		v, err := inspect(b, memDir)
		must(t, err)
		if !slices.Equal(v.Unread, []string{b.name}) {
			t.Errorf("sync=%d: got that %q is unread, want %s", sync, v.Unread, b.name)
		}
		found := walkAll(v, 0)
		if v.Numbers != uint64(len(found.lines)) || found.kinds[GapUnreadable] != 1 {
			t.Errorf("sync=%d: got %d numbers, %d lines and the gaps %v, want an unreadable end",
				sync, v.Numbers, len(found.lines), found.kinds)
		}
	}
}
