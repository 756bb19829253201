// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// create makes a segment in the order that docs/spool-format.md gives. It calls
// rest now and then.
func (d *dir) create(number uint64, size int64, rest func()) (*segment.Segment, error) {
	g, f, err := d.make(number, size, d.minFree)
	if err != nil {
		return nil, err
	}
	err = f.Sync()
	if err == nil {
		err = segment.PrefaultNew(g, f, rest)
	}
	if err == nil {
		f, err = d.publish(g, f)
	}
	if err == nil {
		err = d.fs.SyncDir(d.path)
	}
	if err != nil {
		d.unmake(g)
		return nil, err
	}
	d.closeMapped(g, f)
	return g, nil
}

// begin makes the first segment of a process, which is used at once. It is
// synced by finish, and nothing of it may be delivered before; its pages are
// touched by warm.
func (d *dir) begin(number uint64, size int64) (g *segment.Segment, finish func() error, err error) {
	g, f, err := d.make(number, size, 0)
	if err != nil {
		return nil, nil, err
	}
	if f, err = d.publish(g, f); err != nil {
		d.unmake(g)
		return nil, nil, err
	}
	if !g.IsWritten() {
		segment.AdviseRandom(g.Bytes())
	}
	return g, d.finisher(g, f), nil
}

// make makes a file that is no segment yet, for want of its name.
func (d *dir) make(number uint64, size, minFree int64) (g *segment.Segment, f vfs.File, err error) {
	if err := d.held(); err != nil {
		return nil, nil, err
	}
	id := segment.Identity{Spool: d.spool, Number: number, Gen: d.gen, Boot: d.boot, Size: size}
	made := d.name(segmentName(number) + madeSuffix)
	_ = d.fs.Remove(made) // what is in it must be zeros
	f, err = d.fs.Open(made, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
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
		_ = d.fs.Remove(made)
		return nil, nil, err
	}
	if g.IsWritten() {
		copy(g.Bytes(), head)
	}
	return g, f, nil
}

// leaveRoom is an error if less than minFree would be free behind size bytes of
// a new file.
func leaveRoom(f vfs.File, size, minFree int64, name string) error {
	if minFree == 0 {
		return nil
	}
	if free, err := f.Free(); err == nil && free-size < minFree { // else allocating decides
		return &fs.PathError{Op: "leave room", Path: name, Err: syscall.ENOSPC}
	}
	return nil
}

// attach makes a segment of a file that is allocated: it is mapped, or else
// gets a twin, whose memory is zeros.
func (d *dir) attach(f vfs.File, id segment.Identity) (*segment.Segment, error) {
	if d.unmapped {
		return segment.NewWritten(f, id, func(written, deleted vfs.File) {
			d.close("a segment", written)
			d.sweeper.add(&spent{file: deleted})
		}), nil
	}
	return segment.NewMapped(f, id, func(pages []byte, unmap func(), deleted vfs.File) {
		d.sweeper.add(&spent{pages: pages, unmap: unmap, file: deleted})
	})
}

// publish gives the file of a segment its name, and returns it.
func (d *dir) publish(g *segment.Segment, f vfs.File) (vfs.File, error) {
	f, err := d.rename(f, d.name(segmentName(g.Number)))
	if err == nil && g.IsWritten() {
		g.SetFile(f)
	}
	return f, err
}

// rename takes the suffix away that the name of a file has while it is made. A
// system that does not rename open files opens another one.
func (d *dir) rename(f vfs.File, name string) (vfs.File, error) {
	if !vfs.CanRenameOpen {
		_ = f.Close() // it was synced, or what is in it is not needed yet
	}
	err := d.fs.Rename(name+madeSuffix, name)
	if err == nil && !vfs.CanRenameOpen {
		return d.fs.Open(name, os.O_RDWR, 0)
	}
	return f, err
}

// unmake removes what make has made. If it stays, the next start removes it.
func (d *dir) unmake(g *segment.Segment) {
	g.Done(nil)
	_ = d.fs.Remove(d.name(segmentName(g.Number) + madeSuffix))
}

// closeMapped closes the file of a mapping, which does not need it.
func (d *dir) closeMapped(g *segment.Segment, f vfs.File) {
	if !g.IsWritten() {
		d.close("a segment", f)
	}
}
