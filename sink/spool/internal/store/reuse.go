// SPDX-License-Identifier: Apache-2.0

package store

import (
	"io/fs"
	"slices"
	"time"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// A settled segment can become the next one: its file gets another name, and
// its pages are cleared where they are mapped. Deleting 8 MiB, and allocating,
// mapping and faulting in as much again, takes several times as long on a
// processor that could deliver.
//
// Nothing in the file may be mistaken for its previous contents:
//
//  1. The file gets a temporary name, which the next start removes, and the
//     directory is synced. From then on no start and no reader finds the
//     segment that it was.
//  2. Its pages are cleared. The new header and the page after it are synced.
//  3. The file gets its new name, and the directory is synced. That is also
//     step 1 of the spares that there are by then, and one of them is cleared
//     before the next segment is needed.
//
// A power failure may bring back old bytes in any page except the first two. No
// old record is a record of the new segment: its number is lower than the first
// one there, and its checksum began with another seed.

// A spare is the file of a settled segment.
type spare struct {
	name    string // temporary
	pages   []byte // nil while a goroutine may still use them
	unmap   func()
	hidden  bool // the temporary name is on the disk
	cleared bool // the pages are zeros
}

const mostSpares = 4

// A spareList holds the spares. Dir.mu protects it.
type spareList struct {
	reuse    bool // settled segments become spares
	renaming int  // number of settled segments that are being renamed
	spares   []*spare
	expiry   *time.Timer // calls expire
	expired  bool        // no spare was added for SpareTime
}

// SpareTime is the time for which the last spare is kept. It takes disk space
// from other processes.
const SpareTime = time.Second

// RemoveSettled is Remove for a segment that is settled. Create may use its
// file again.
func (d *Dir) RemoveSettled(number uint64, g *segment.Segment) error {
	if g != nil && g.IsReusable() && d.setAside(number, g) {
		return d.RemoveItsCopy(number)
	}
	return d.Remove(number, g)
}

// setAside makes the file of a segment a spare. If it returns false, the caller
// must remove the file.
func (d *Dir) setAside(number uint64, g *segment.Segment) bool {
	d.mu.Lock()
	ok := d.reuse && len(d.spares)+d.renaming < mostSpares
	if ok {
		d.renaming++
	}
	d.mu.Unlock()
	if !ok {
		return false
	}
	x := &spare{name: SegmentName(number) + MadeSuffix}
	err := d.Held()
	if err == nil {
		err = d.FS.Rename(d.Name(SegmentName(number)), d.Name(x.name))
	}
	d.mu.Lock()
	d.renaming--
	if err == nil {
		d.spares = append(d.spares, x)
	}
	ok = d.reuse
	d.mu.Unlock()
	if err != nil {
		d.note("keep a segment for reuse", Ignore(err, ErrReplaced, fs.ErrNotExist))
		return false
	}
	g.DoneFor(func(pages []byte, unmap func()) {
		d.mu.Lock()
		x.pages, x.unmap = pages, unmap
		kept := slices.Contains(d.spares, x)
		if kept {
			d.expired = false
			d.expiry.Reset(SpareTime)
		}
		d.mu.Unlock()
		if !kept {
			d.Sweeper.Add(&Spent{Pages: pages, Unmap: unmap})
		}
	})
	if !ok { // the goroutine that would use the spare has ended
		d.DropSpares(false)
	}
	return true
}

// forget removes x from the list, and returns its pages if no goroutine uses
// them any longer. ok is false if it was not there.
func (d *Dir) forget(x *spare) (pages []byte, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.Index(d.spares, x)
	if i < 0 {
		return nil, false
	}
	d.spares = slices.Delete(d.spares, i, i+1)
	return x.pages, true
}

// AllowReuse lets settled segments become spares, or drops all spares.
func (d *Dir) AllowReuse(allowed bool) {
	d.mu.Lock()
	d.reuse = allowed
	if d.expiry == nil {
		d.expiry = time.AfterFunc(SpareTime, d.expire)
	}
	if !allowed {
		d.expiry.Stop()
	}
	d.mu.Unlock()
	if !allowed {
		d.DropSpares(false)
	}
}

// expire signals that DropExpired must be called.
func (d *Dir) expire() {
	d.mu.Lock()
	d.expired = true
	d.mu.Unlock()
	d.Sweeper.Signal()
}

// DropExpired deletes the spares if none was added for SpareTime.
func (d *Dir) DropExpired() {
	d.mu.Lock()
	expired := d.expired
	d.expired = false
	d.mu.Unlock()
	if expired {
		d.DropSpares(false)
	}
}

// Unfreed returns the number of files besides segments, after Create has used a
// spare.
func (d *Dir) Unfreed() int {
	d.mu.Lock()
	n := len(d.spares)
	if slices.ContainsFunc(d.spares, (*spare).isReady) {
		n--
	}
	d.mu.Unlock()
	return n + d.Sweeper.Count()
}

func (x *spare) isReady() bool { return x.pages != nil }

func (x *spare) isCleared() bool { return x.cleared }

// DropSpares deletes the spares, except one for Create if keepOne is set. It
// reports whether it has deleted any.
func (d *Dir) DropSpares(keepOne bool) (dropped bool) {
	d.mu.Lock()
	all := slices.Clone(d.spares)
	d.mu.Unlock()
	for _, x := range all {
		if keepOne && x.isReady() {
			keepOne = false
			continue
		}
		d.drop(x)
		dropped = true
	}
	return dropped
}

// drop deletes a spare.
func (d *Dir) drop(x *spare) {
	pages, ok := d.forget(x)
	if !ok {
		return // another goroutine deletes it
	}
	f, err := d.unlink(x.name)
	d.note("delete a segment", err) // the next start deletes it
	if pages == nil {
		d.Sweeper.Add(&Spent{file: f})
		return
	}
	d.Sweeper.Add(&Spent{Pages: pages, Unmap: x.unmap, file: f})
}

// FreeAll frees all disk space that deleted segments still take, except one
// spare for Create if keepOne is set. It reports whether there was any.
func (d *Dir) FreeAll(keepOne bool) bool {
	dropped := d.DropSpares(keepOne)
	return d.Sweeper.All() || dropped
}

// createFromSpare makes a segment of a spare. It returns nil if there is none.
// If it fails, it drops the spare and returns nil.
func (d *Dir) createFromSpare(number uint64, size int64, rest func()) *segment.Segment {
	x := d.firstSpare((*spare).isCleared)
	if x == nil {
		x = d.firstSpare((*spare).isReady)
	}
	if x == nil {
		return nil
	}
	g, err := d.renewSpare(x, number, size, rest)
	d.note("reuse a segment", Ignore(err, ErrReplaced))
	if g == nil {
		d.drop(x)
	} else {
		d.forget(x)
	}
	return g
}

// ClearSpare clears the spare that Create uses next, if its temporary name is
// on the disk already. It is called by the goroutine that calls Create. If the
// file must not be used, Create will find that out.
func (d *Dir) ClearSpare(size int64, rest func()) {
	x := d.firstSpare(func(x *spare) bool { return x.isReady() && x.hidden })
	if x == nil || d.firstSpare((*spare).isCleared) != nil {
		return
	}
	ok, err := d.isUsable(x, size)
	d.note("reuse a segment", Ignore(err, ErrReplaced))
	if ok && err == nil {
		x.cleared = segment.Clear(x.pages, rest) == nil
	}
}

// firstSpare returns the oldest spare for which is reports true, or nil.
func (d *Dir) firstSpare(is func(*spare) bool) *spare {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.IndexFunc(d.spares, is); i >= 0 {
		return d.spares[i]
	}
	return nil
}

// syncSpares syncs the directory. The temporary names of the spares that exist
// when it begins are on disk when it returns.
func (d *Dir) syncSpares() error {
	d.mu.Lock()
	all := slices.Clone(d.spares)
	d.mu.Unlock()
	if err := d.FS.SyncDir(d.Path); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, x := range all {
		x.hidden = true
	}
	return nil
}

// isUsable reports whether the file of a spare may become a segment: it was not
// changed, has no other name, and its space is not needed.
func (d *Dir) isUsable(x *spare, size int64) (bool, error) {
	if err := d.Held(); err != nil {
		return false, err
	}
	info, err := d.FS.Lstat(d.Name(x.name))
	if err != nil {
		return false, err
	}
	return info.Size == size && int64(len(x.pages)) == size && info.Links == 1 && !d.isTight(), nil
}

// renewSpare takes the steps 1 to 3; see above. It returns neither a segment
// nor an error if the file must not be used.
func (d *Dir) renewSpare(
	x *spare, number uint64, size int64, rest func(),
) (*segment.Segment, error) {
	ok, err := d.isUsable(x, size)
	if err == nil && ok && !x.hidden {
		err = d.syncSpares()
	}
	if err == nil && ok && !x.cleared {
		err = segment.Clear(x.pages, rest)
	}
	if err != nil || !ok {
		return nil, err
	}
	id := d.identity(number, size)
	g, err := segment.Renew(x.pages, x.unmap, id, d.freeMapped)
	if err != nil {
		return nil, err
	}
	made := x.name
	x.name = SegmentName(number)
	if err := d.FS.Rename(d.Name(made), d.Name(x.name)); err != nil {
		x.name = made
		return nil, err
	}
	if err := d.syncSpares(); err != nil {
		return nil, err // drop removes it under its new name
	}
	return g, nil
}

// isTight reports whether the volume has less free space than must be kept.
func (d *Dir) isTight() bool {
	d.lockMu.Lock()
	defer d.lockMu.Unlock()
	f, ok := d.Lock.(vfs.File)
	if !ok || d.minFree == 0 {
		return false
	}
	free, err := f.Free()
	return err == nil && free < d.minFree
}

// freeMapped frees the memory of a mapped segment, and its file if it was
// deleted.
func (d *Dir) freeMapped(pages []byte, unmap func(), deleted vfs.File) {
	d.Sweeper.Add(&Spent{Pages: pages, Unmap: unmap, file: deleted})
}
