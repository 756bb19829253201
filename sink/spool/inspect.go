// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// defaultName is the default of [Config.Name].
const defaultName = "destination"

// A View is a snapshot of the directory of a spool, made by [Inspect]. It does
// not change and holds no files open.
type View struct {
	Dir          string
	ID           uint64 // a random number of the directory; 0 if there is no segment
	Owner        Owner
	Segments     []SegmentInfo // segments that are or were in use, oldest first
	Spare        int64         // size in bytes of the segment that was created in advance
	Destinations []DestinationInfo
	Bad          []string // files that Open will quarantine
	// Files that cannot be read now or have a later format version; their
	// pending lines are unknown.
	Unread      []string
	Quarantined []string  // files that were quarantined
	First, Last time.Time // times of the oldest and the newest record; zero if there is none
	Numbers     uint64    // record numbers in the segments, including those without a record
	Bytes       int64     // disk usage of the segments, including Spare

	fs vfs.FS
}

// An Owner reports whether a process has a spool open.
type Owner string

// The states of ownership.
const (
	// OwnerUnknown means that locks are not reliable on the file system, or
	// that permission is denied.
	OwnerUnknown Owner = "unknown"

	OwnerNone  Owner = "none"
	OwnerAlive Owner = "alive"
)

func ownerOf(d *store.Dir) Owner {
	o, _ := d.Owner() // on an error, the owner is unknown
	return [...]Owner{OwnerUnknown, OwnerNone, OwnerAlive}[o]
}

// A SegmentInfo describes a segment.
type SegmentInfo struct {
	Number     uint64
	Generation uint32      // counts the processes that had the spool open, up to its creator
	Size       int64       // nominal size in bytes
	Bytes      int64       // disk usage in bytes, including its copy
	First      uint64      // number of its first record
	Skipped    uint64      // count of numbers before First that have no record
	End        uint64      // number after its last record
	Absent     bool        // the next segment is missing: the numbers up to End may have been there
	old        segment.Old // as Open would see it
}

// A DestinationInfo describes the progress of a destination.
type DestinationInfo struct {
	Name string
	// The cursor is valid and belongs to this spool; otherwise delivery starts
	// with the oldest record.
	Known   bool
	Settled uint64 // number of the first unsettled record
	Pending uint64 // unsettled records, including numbers without a record
	Mark    string // the mark of a destination that is a [delivery.Resumer]
}

// Inspect returns a snapshot of the spool in dir. It writes nothing and may be
// called while another process has the spool open; the result may be out of
// date by the time it returns. It reads the headers of all segments, the last
// segment, and as much as is needed to find the oldest record. It briefly takes
// a shared lock to check whether a process has the spool open: a concurrent
// Open can fail with [ErrInUse]. It returns the error of the system,
// or [fs.ErrNotExist] if dir is not a spool.
func Inspect(dir string) (*View, error) { return inspect(vfs.OS(), dir) }

// A file that a process changes concurrently is read up to attempts times, and
// a directory in which segments are deleted concurrently up to listings times:
// a busy process with small segments deletes one during most of the listings.
const (
	attempts = 5
	listings = 200
)

var errMoved = errors.New("nib/spool: segments come and go too fast to be listed")

func inspect(fsys vfs.FS, path string) (v *View, err error) {
	for range listings {
		d := store.LookInto(fsys, path)
		v = &View{Dir: path, fs: fsys}
		v.Owner = ownerOf(d)
		if err = v.list(d); err == nil {
			v.measure(d)
			v.Numbers = v.numbers(0)
			// After the segments: an earlier position might be in a segment
			// deleted since.
			err = v.readCursors(d)
		}
		if err == nil {
			return v, nil
		}
		if err != errMoved {
			break
		}
	}
	return nil, fmt.Errorf("nib/spool: inspect %s: %w", path, err)
}

// OwnerOf reports whether a process has the spool in dir open. It returns the
// same as [View.Owner], but reads nothing else, so it suits callers that poll.
func OwnerOf(dirname string) Owner { return ownerOf(store.LookInto(vfs.OS(), dirname)) }

// list reads the headers. It returns errMoved if a segment was deleted after
// its name was listed and before its header was read: the rest would look
// damaged.
func (v *View) list(d *store.Dir) error {
	names, err := d.FS.ReadDir(d.Path)
	if err != nil {
		return err
	}
	isSpool := slices.Contains(names, "lock")
	var slots []string
	for _, name := range names { // sorted
		if base, ok := strings.CutSuffix(name, store.BadExt); ok && store.IsSegmentName(base) {
			v.Quarantined = append(v.Quarantined, name)
		}
		if store.IsSlot(name) {
			slots = append(slots, name)
		}
	}
	look := func(name string) (segment.Old, bool, error) { return v.look(d, name) }
	for h := range d.Heads(names, look) {
		isSpool = true
		if v.add(d, &h) {
			return errMoved
		}
	}
	v.ID = d.Spool
	switch {
	case !isSpool && len(slots) > 0:
		return fmt.Errorf(
			"several processes share the directory (Config.Shared), inspect their slots: %s: %w",
			strings.Join(slots, ", "), fs.ErrNotExist)
	case !isSpool:
		return fs.ErrNotExist
	}
	return nil
}

// add adds a segment. gone reports that it or its copy was deleted.
func (v *View) add(d *store.Dir, h *store.Head) (gone bool) {
	s := SegmentInfo{
		Number: h.Number, Generation: h.Gen, Size: h.Size, First: h.First, Skipped: h.Skipped,
		End: h.First, old: h.Old,
	}
	for _, name := range h.Files() {
		info, err := d.FS.Lstat(d.Name(name))
		if errors.Is(err, fs.ErrNotExist) {
			return true
		}
		s.Bytes += info.Size
	}
	for _, u := range h.Unread {
		if errors.Is(u.Err, fs.ErrNotExist) {
			return true
		}
		v.Unread = append(v.Unread, u.Op)
	}
	v.Bad = append(v.Bad, h.Bad...)
	switch {
	case h.Used:
		v.Segments = append(v.Segments, s)
		v.Bytes += s.Bytes
	case h.OK:
		v.Spare += s.Bytes
		v.Bytes += s.Bytes
	}
	return false
}

// look reads a header, repeatedly if it may be being written.
func (v *View) look(d *store.Dir, name string) (g segment.Old, used bool, err error) {
	for range attempts {
		g, used, err = d.Look(name)
		if v.Owner == OwnerNone || !errors.Is(err, segment.ErrHeader) {
			break
		}
		time.Sleep(time.Millisecond) // the owner may need this processor
	}
	if v.Owner == OwnerAlive && errors.Is(err, store.ErrStart) {
		err = nil // the owner is activating it
	}
	return g, used, err
}

// measure determines where segments end, as a start would, and the times of the
// oldest and the newest record.
func (v *View) measure(d *store.Dir) {
	for i := len(v.Segments) - 2; i >= 0; i-- {
		s := &v.Segments[i]
		s.old.EndBefore(&v.Segments[i+1].old)
		s.Skipped, s.End, s.Absent = s.old.Skipped, s.old.End, s.old.Damaged
	}
	for i := len(v.Segments) - 1; i >= 0 && v.Last.IsZero(); i-- {
		s := &v.Segments[i]
		b, err := d.Read(&s.old) // an unreadable segment has no end
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			v.Unread = append(v.Unread, store.SegmentName(s.Number))
		}
		sc := segment.NewScanner(b, s.old.Identity, s.First)
		for {
			rec, _, ok := sc.Next()
			if !ok {
				break
			}
			v.Last = segment.TimeOf(rec)
		}
		if i == len(v.Segments)-1 {
			s.End = sc.Want
			if err == nil {
				s.old.End = sc.Want // otherwise it stays unknown: there may be more
			}
		}
	}
	for r, g := range v.Records(0) {
		if g.Kind == "" {
			v.First = time.Unix(0, r.Time)
			break
		}
	}
}

// readCursors reads the progress of the destinations.
func (v *View) readCursors(d *store.Dir) error {
	files, err := d.FS.ReadDir(d.Path)
	if err != nil {
		// Without its cursor, the records that a destination has not settled
		// could be deleted.
		return err
	}
	for _, base := range files {
		name, ok := strings.CutSuffix(base, store.CursorExt)
		if !ok || name == "" || !isName(name) || !d.IsFile(base) {
			continue // not of a spool
		}
		i := DestinationInfo{Name: name}
		if err := v.readCursor(d, base, &i); err != nil {
			v.Unread = append(v.Unread, base)
		}
		i.Pending = v.numbers(i.Settled)
		v.Destinations = append(v.Destinations, i)
	}
	return nil
}

func (v *View) readCursor(d *store.Dir, base string, i *DestinationInfo) error {
	f, err := d.FS.Open(d.Name(base), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	slot, _, p, err := store.ReadSlots(f)
	if slot != nil && p.Spool == v.ID {
		i.Settled, i.Mark, i.Known = p.Seq, string(store.MarkIn(slot)), true
	}
	return err
}

// numbers returns the number of record numbers in the segments, beginning at
// from.
func (v *View) numbers(from uint64) (n uint64) {
	for i := range v.Segments {
		s := &v.Segments[i]
		n += s.End - min(max(s.First, from), s.End)
	}
	return n
}

// Pending returns the number of records that the destination called name has
// not settled, or all of them if it has no cursor. Numbers without a record are
// included.
func (v *View) Pending(name string) uint64 { return v.numbers(v.settled(name)) }

// settled returns the number of the first record that a destination has not
// settled.
func (v *View) settled(name string) uint64 {
	for i := range v.Destinations {
		if d := &v.Destinations[i]; d.Name == name {
			return d.Settled
		}
	}
	return 0
}

// settledByAll returns the number of the first record that some destination has
// not settled, or 0 if the cursors do not say.
func (v *View) settledByAll() (seq uint64) {
	for i, d := range v.Destinations {
		if i == 0 {
			seq = d.Settled
		}
		seq = min(seq, d.Settled)
	}
	return seq
}

// Find returns the spool directories among root, its subdirectories, and their
// subdirectories, sorted. For a directory shared by several processes
// ([Config.Shared]) it returns the slots. It does not follow links. The error
// is about the directories that cannot be read, and says to whom they belong;
// dirs has the others.
func Find(root string) (dirs []string, err error) {
	if dirs, err = store.Find(root, 2); err != nil {
		err = fmt.Errorf("nib/spool: find: %w", err)
	}
	return dirs, err
}
