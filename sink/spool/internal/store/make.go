// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// Create makes a segment, of a spare if there is one, in the order given in
// docs/spool-format.md. It calls rest between the steps of prefaulting.
func (d *Dir) Create(number uint64, size int64, rest func()) (*segment.Segment, error) {
	if g := d.Spares.create(number, size, rest); g != nil {
		return g, nil
	}
	g, f, err := d.Make(number, size, d.minFree)
	if err != nil {
		return nil, err
	}
	err = f.Sync()
	if err == nil {
		err = segment.PrefaultNew(g, f, rest)
	}
	if err == nil {
		f, err = d.Publish(g, f)
	}
	if err == nil {
		err = d.Spares.sync()
	}
	if err != nil {
		d.unmake(g, f)
		return nil, err
	}
	d.closeMapped(g, f)
	return g, nil
}

// CreateFirst makes the first segment of a process, which is used at once.
// finish syncs it, and nothing in it may be delivered before that; Prefault
// touches its pages.
func (d *Dir) CreateFirst(
	number uint64, size int64,
) (g *segment.Segment, finish func() error, err error) {
	g, f, err := d.Make(number, size, 0)
	if err != nil {
		return nil, nil, err
	}
	if f, err = d.Publish(g, f); err != nil {
		d.unmake(g, f)
		return nil, nil, err
	}
	if !g.IsWritten() {
		segment.AdviseRandom(g.Bytes())
	}
	return g, d.finisher(g, f), nil
}

// Make makes the file of a segment under a temporary name.
func (d *Dir) Make(number uint64, size, minFree int64) (g *segment.Segment, f vfs.File, err error) {
	if err := d.Held(); err != nil {
		return nil, nil, err
	}
	id := d.identity(number, size)
	made := d.Name(SegmentName(number) + MadeSuffix)
	_ = d.FS.Remove(made) // the new file must be all zeros
	f, err = d.FS.Open(made, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, nil, err
	}
	head := make([]byte, 64)
	segment.PutHeader(head, id)
	if err = leaveRoom(f, size, minFree, made); err == nil {
		err = f.Preallocate(size)
	}
	if err == nil {
		_, err = f.WriteAt(head, 0)
	}
	if err == nil {
		g, err = d.attach(f, id)
	}
	if err != nil {
		_ = f.Close() // it is not needed
		_ = d.FS.Remove(made)
		return nil, nil, err
	}
	if g.IsWritten() {
		copy(g.Bytes(), head)
	}
	return g, f, nil
}

// KeepHeader replaces the file of an old segment by its header, and deletes its
// copy. move makes a file the one in which the counts of dropped lines are
// stored, stores them there, and returns the previous one: first the new file,
// and again the previous one if they cannot be stored, or if the new file
// cannot be renamed. The new file does not count towards the size of a spool.
func (d *Dir) KeepHeader(
	number uint64, head []byte, move func(f vfs.File, isNew bool) (before vfs.File, err error),
) error {
	if err := d.Held(); err != nil {
		return err
	}
	name := d.Name(SegmentName(number))
	_ = d.FS.Remove(name + MadeSuffix)
	f, err := d.FS.Open(name+MadeSuffix, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.WriteAt(head, 0); err == nil {
		err = f.Sync()
	}
	if err == nil {
		var before vfs.File
		if before, err = move(f, true); err == nil {
			f, err = d.rename(f, name)
		}
		if err == nil {
			_, _ = move(f, true) // the system may have opened it again
			d.Sweeper.Add(&Spent{file: before})
			d.note("delete a copy", d.Copies.Remove(number)) // the next start deletes it
			return nil
		}
		_, _ = move(before, false)
	}
	if f != nil {
		_ = f.Close() // it is not needed
	}
	_ = d.FS.Remove(name + MadeSuffix)
	return err
}

// identity returns the identity of a segment of this process.
func (d *Dir) identity(number uint64, size int64) segment.Identity {
	return segment.Identity{
		Spool: d.Spool, Number: number, Gen: d.Gen, Stream: d.Stream, Boot: d.Boot, Size: size,
	}
}

// leaveRoom returns an error if less than minFree bytes would be free after a
// new file of size bytes.
func leaveRoom(f vfs.File, size, minFree int64, name string) error {
	if minFree == 0 {
		return nil
	}
	// Otherwise the allocation decides.
	if free, err := f.Free(); err == nil && free-size < minFree {
		return &fs.PathError{Op: "leave room", Path: name, Err: syscall.ENOSPC}
	}
	return nil
}

// attach makes a segment of an allocated file: it maps the file, or adds a
// twin, whose memory is zeros.
func (d *Dir) attach(f vfs.File, id segment.Identity) (*segment.Segment, error) {
	if d.unmapped {
		return segment.NewWritten(f, id, func(written, deleted vfs.File) {
			d.Close("a segment", written)
			d.Sweeper.Add(&Spent{file: deleted})
		}), nil
	}
	return segment.NewMapped(f, id, d.Sweeper.freeMapped)
}

// Publish gives the file of a segment its name, and returns it.
func (d *Dir) Publish(g *segment.Segment, f vfs.File) (vfs.File, error) {
	f, err := d.rename(f, d.Name(SegmentName(g.Number)))
	if err == nil && g.IsWritten() {
		g.SetFile(f)
	}
	return f, err
}

// rename removes the suffix that a file has while it is being made. A system
// that cannot rename open files opens it again.
func (d *Dir) rename(f vfs.File, name string) (vfs.File, error) {
	if !vfs.CanRenameOpen {
		_ = f.Close() // synced, or the contents are not needed yet
	}
	err := d.FS.Rename(name+MadeSuffix, name)
	if err == nil && !vfs.CanRenameOpen {
		return d.FS.Open(name, os.O_RDWR, 0)
	}
	return f, err
}

// unmake removes the segment that Make has made. If it cannot, the next start
// removes the segment.
func (d *Dir) unmake(g *segment.Segment, f vfs.File) {
	d.closeMapped(g, f)
	g.Done(nil)
	_ = d.FS.Remove(d.Name(SegmentName(g.Number) + MadeSuffix))
}

// closeMapped closes the file of a mapping, which does not need it.
func (d *Dir) closeMapped(g *segment.Segment, f vfs.File) {
	if !g.IsWritten() {
		d.Close("a segment", f)
	}
}

var ErrNotWhole = errors.New("the segment file was truncated")

// Reopen makes an old segment one of this process, which continues after its
// last record in the stream of this process. finish must be called before
// anything in it may be delivered.
func (d *Dir) Reopen(old *segment.Old) (g *segment.Segment, finish func() error, err error) {
	if err := d.Held(); err != nil {
		return nil, nil, err
	}
	f, err := d.FS.Open(d.Name(SegmentName(old.Number)), os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size != old.Size {
		err = ErrNotWhole
	}
	if err == nil {
		err = f.Preallocate(old.Size) // a copied file may have holes
	}
	if err == nil {
		g, err = d.attach(f, old.Identity)
	}
	if err == nil && g.IsWritten() {
		if _, err = f.ReadAt(g.Bytes(), 0); err == io.EOF {
			err = nil
		}
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, nil, err
	}
	if err := g.ContinueBehind(old, d.Stream); err != nil {
		d.closeMapped(g, f)
		g.Done(nil)
		return nil, nil, err
	}
	if !g.IsWritten() {
		segment.AdviseRandom(g.Bytes())
	}
	return g, d.finisher(g, f), nil
}

// finisher returns a function that syncs the file and its name. It must be
// called before anything in the first segment may be delivered.
func (d *Dir) finisher(g *segment.Segment, f vfs.File) func() error {
	return func() error {
		defer d.closeMapped(g, f)
		err := f.Sync()
		if err == nil {
			err = d.SyncNames()
		}
		return err
	}
}

// SyncNames syncs the directory, and its path until this has succeeded once.
func (d *Dir) SyncNames() error {
	if d.hasPath.Load() {
		return d.FS.SyncDir(d.Path)
	}
	err := vfs.SyncPath(d.FS, d.Path)
	d.hasPath.Store(err == nil)
	return err
}
