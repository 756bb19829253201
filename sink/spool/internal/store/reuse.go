// SPDX-License-Identifier: Apache-2.0

package store

import (
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

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
//
// The copy of a settled segment becomes the copy of another one in the same
// steps, but is not cleared: old bytes stay wherever nothing is copied.

// A spare is the file of a settled segment, or of its copy.
type spare struct {
	name    string // temporary
	pages   []byte // nil while a goroutine may still use them
	unmap   func()
	hidden  atomic.Bool // the temporary name is on the disk
	cleared bool        // the pages are zeros
	isCopy  bool
}

const mostSpares = 4 // of each kind

// Spares are the spares of a directory. Methods may be called concurrently,
// except Clear and Create.
type Spares struct {
	dir *Dir

	mu       sync.Mutex
	allowed  bool // settled segments become spares
	renaming int  // number of settled segments that are being renamed
	list     []*spare
	expiry   *time.Timer // calls expire
	expired  bool        // no spare was added for SpareTime
}

// SpareTime is the time for which the last spare is kept. It takes disk space
// from other processes.
const SpareTime = time.Second

// RemoveSettled is Remove for a segment that is settled. Create may use its
// file again.
func (d *Dir) RemoveSettled(number uint64, g *segment.Segment) error {
	if g != nil && g.IsReusable() && d.Spares.add(SegmentName(number), false, g.DoneFor) {
		return d.Copies.Remove(number)
	}
	return d.Remove(number, g)
}

// add makes the file of a segment or copy a spare. If it returns false, the
// caller must remove the file. done calls its argument once no goroutine uses
// the pages.
func (s *Spares) add(
	name string, isCopy bool, done func(func(pages []byte, unmap func())),
) bool {
	s.mu.Lock()
	ok := s.allowed && s.count(isCopy)+s.renaming < mostSpares
	if ok {
		s.renaming++
	}
	s.mu.Unlock()
	if !ok {
		return false
	}
	x := &spare{name: name + MadeSuffix, isCopy: isCopy}
	err := s.dir.Held()
	if err == nil {
		err = s.dir.FS.Rename(s.dir.Name(name), s.dir.Name(x.name))
	}
	s.mu.Lock()
	s.renaming--
	if err == nil {
		s.list = append(s.list, x)
	}
	ok = s.allowed
	s.mu.Unlock()
	if err != nil {
		s.dir.note("keep a file for reuse", Ignore(err, ErrReplaced, fs.ErrNotExist))
		return false
	}
	done(func(pages []byte, unmap func()) {
		s.mu.Lock()
		x.pages, x.unmap = pages, unmap
		kept := slices.Contains(s.list, x)
		if kept {
			s.expired = false
			s.expiry.Reset(SpareTime)
		}
		s.mu.Unlock()
		if !kept {
			s.dir.Sweeper.Add(&Spent{Pages: pages, Unmap: unmap})
		}
	})
	if !ok { // the goroutine that would use the spare has ended
		s.Drop(false)
	}
	return true
}

// count returns the number of spares of a kind. The lock is held.
func (s *Spares) count(copies bool) (n int) {
	for _, x := range s.list {
		if x.isCopy == copies {
			n++
		}
	}
	return n
}

// reuseCopy renames a spare copy to made, if there is one. It is called by the
// copier.
func (s *Spares) reuseCopy(made string, size int64) bool {
	x := s.first(func(x *spare) bool { return x.isCopy && x.hidden.Load() })
	if x == nil {
		return false
	}
	if _, ok := s.remove(x); !ok {
		return false // another goroutine deletes it
	}
	ok, err := s.isUsable(x, size)
	if ok && err == nil {
		err = s.dir.FS.Rename(s.dir.Name(x.name), made)
	}
	s.dir.note("reuse a copy", Ignore(err, ErrReplaced))
	if !ok || err != nil {
		s.free(x, nil)
	}
	return ok && err == nil
}

// remove removes x from the list, and returns its pages if no goroutine uses
// them any longer. ok is false if it was not there.
func (s *Spares) remove(x *spare) (pages []byte, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.list, x)
	if i < 0 {
		return nil, false
	}
	s.list = slices.Delete(s.list, i, i+1)
	return x.pages, true
}

// Allow lets settled segments become spares, or drops all spares.
func (s *Spares) Allow(allowed bool) {
	s.mu.Lock()
	s.allowed = allowed
	if s.expiry == nil {
		s.expiry = time.AfterFunc(SpareTime, s.expire)
	}
	if !allowed {
		s.expiry.Stop()
	}
	s.mu.Unlock()
	if !allowed {
		s.Drop(false)
	}
}

// expire signals that DropExpired must be called.
func (s *Spares) expire() {
	s.mu.Lock()
	s.expired = true
	s.mu.Unlock()
	Signal(s.dir.Sweeper.Due)
}

// DropExpired deletes the spares if none was added for SpareTime.
func (s *Spares) DropExpired() {
	s.mu.Lock()
	expired := s.expired
	s.expired = false
	s.mu.Unlock()
	if expired {
		s.Drop(false)
	}
}

// Unfreed returns the number of files besides segments, after Create has used a
// spare.
func (s *Spares) Unfreed() int {
	s.mu.Lock()
	n := len(s.list)
	if slices.ContainsFunc(s.list, (*spare).isReady) {
		n--
	}
	s.mu.Unlock()
	return n + s.dir.Sweeper.Count()
}

func (x *spare) isReady() bool { return x.pages != nil }

func (x *spare) isCleared() bool { return x.cleared }

// Drop deletes the spares, except one for Create if keepOne is set. It
// reports whether it has deleted any.
func (s *Spares) Drop(keepOne bool) (dropped bool) {
	s.mu.Lock()
	all := slices.Clone(s.list)
	if i := slices.IndexFunc(all, (*spare).isReady); keepOne && i >= 0 {
		all = slices.Delete(all, i, i+1)
	}
	s.mu.Unlock()
	for _, x := range all {
		s.drop(x)
	}
	return len(all) > 0
}

// drop deletes a spare.
func (s *Spares) drop(x *spare) {
	pages, ok := s.remove(x)
	if ok { // otherwise another goroutine deletes it
		s.free(x, pages)
	}
}

// free deletes a spare that is no longer in the list.
func (s *Spares) free(x *spare, pages []byte) {
	f, err := s.dir.unlink(x.name)
	s.dir.note("delete a segment", err) // the next start deletes it
	if pages == nil {
		s.dir.Sweeper.Add(&Spent{file: f})
		return
	}
	s.dir.Sweeper.Add(&Spent{Pages: pages, Unmap: x.unmap, file: f})
}

// FreeAll frees all disk space that deleted segments still take, except one
// spare for Create if keepOne is set. It reports whether there was any.
func (s *Spares) FreeAll(keepOne bool) bool {
	dropped := s.Drop(keepOne)
	return s.dir.Sweeper.All() || dropped
}

// create makes a segment of a spare. It returns nil if there is none.
// If it fails, it drops the spare and returns nil.
func (s *Spares) create(number uint64, size int64, rest func()) *segment.Segment {
	x := s.first((*spare).isCleared)
	if x == nil {
		x = s.first((*spare).isReady)
	}
	if x == nil {
		return nil
	}
	g, err := s.renew(x, number, size, rest)
	s.dir.note("reuse a segment", Ignore(err, ErrReplaced))
	if g == nil {
		s.drop(x)
	} else {
		s.remove(x)
	}
	return g
}

// Clear clears the spare that Dir.Create uses next, if its temporary name is
// on the disk already. It is called by the goroutine that calls Create. If the
// file must not be used, Create will find that out.
func (s *Spares) Clear(size int64, rest func()) {
	x := s.first(func(x *spare) bool { return x.isReady() && x.hidden.Load() })
	if x == nil || s.first((*spare).isCleared) != nil {
		return
	}
	ok, err := s.isUsable(x, size)
	s.dir.note("reuse a segment", Ignore(err, ErrReplaced))
	if ok && err == nil {
		x.cleared = segment.Clear(x.pages, rest) == nil
	}
}

// first returns the oldest spare for which is reports true, or nil.
func (s *Spares) first(is func(*spare) bool) *spare {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.list, is); i >= 0 {
		return s.list[i]
	}
	return nil
}

// sync syncs the directory. The temporary names of the spares that exist
// when it begins are on disk when it returns.
func (s *Spares) sync() error {
	s.mu.Lock()
	all := slices.Clone(s.list)
	s.mu.Unlock()
	if err := s.dir.SyncNames(); err != nil {
		return err
	}
	for _, x := range all {
		x.hidden.Store(true)
	}
	return nil
}

// isUsable reports whether the file of a spare may become a segment: it was not
// changed, has no other name, and its space is not needed.
func (s *Spares) isUsable(x *spare, size int64) (bool, error) {
	if err := s.dir.Held(); err != nil {
		return false, err
	}
	info, err := s.dir.FS.Lstat(s.dir.Name(x.name))
	if err != nil {
		return false, err
	}
	isOwn := info.Size == size && info.Links == 1 && (x.isCopy || int64(len(x.pages)) == size)
	return isOwn && !s.dir.isTight(s.dir.minFree), nil
}

// renew takes the steps 1 to 3; see above. It returns neither a segment
// nor an error if the file must not be used.
func (s *Spares) renew(
	x *spare, number uint64, size int64, rest func(),
) (*segment.Segment, error) {
	ok, err := s.isUsable(x, size)
	if err == nil && ok && !x.hidden.Load() {
		err = s.sync()
	}
	if err == nil && ok && !x.cleared {
		err = segment.Clear(x.pages, rest)
	}
	if err != nil || !ok {
		return nil, err
	}
	id := s.dir.identity(number, size)
	g, err := segment.Renew(x.pages, x.unmap, id, s.dir.Sweeper.freeMapped)
	if err != nil {
		return nil, err
	}
	made := x.name
	x.name = SegmentName(number)
	if err := s.dir.FS.Rename(s.dir.Name(made), s.dir.Name(x.name)); err != nil {
		x.name = made
		return nil, err
	}
	if err := s.sync(); err != nil {
		return nil, err // drop removes it under its new name
	}
	return g, nil
}
