// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"time"
)

// The interval at which a file is looked at if nothing else is chosen, and how
// long the next file waits, since the writer of a renamed file may not have
// noticed the renaming.
const (
	filePoll    = 100 * time.Millisecond
	renamedTime = time.Second
)

// sampleLen is the number of bytes at the beginning of a file, and before the
// place of the reader, by which a file is known.
const sampleLen = 128

// A follower reads a file that grows, and after a renaming, the next files of
// that name, also those that have been renamed themselves between two looks. A
// file that is truncated is read from its beginning.
type follower struct {
	ctx   context.Context
	path  string
	from  int64 // offset to begin at in the first file
	first known // the first file, which may have been renamed since; its info may be nil

	selection Selection
	changed   <-chan struct{} // receives after events, if there are any

	file   *os.File // nil if there is no file
	offset int64
	size   int64  // the most bytes that the file has had
	last   byte   // the last byte read
	head   []byte // the first bytes of the file
	recent []byte // the last bytes read
	isCopy bool   // the file is a copy, to which nothing is added
	opened bool
	waited bool // there was no file
	next   []successor
	isFull bool    // there are more successors than next has
	known  []known // files that have been read, or were there before

	late    lateLines
	refused bool // it was reported that the path cannot be opened
}

// A successor is a file that took the name later, opened before it is renamed
// itself.
type successor struct {
	file   *os.File
	from   int64
	at     time.Time // when it was noticed, or had no line yet
	isCopy bool      // made of the file that has the name before it was truncated
	again  bool      // the file that has the name, which was truncated
}

// A known file has been read, or was there before the first one. The system may
// use its number again for another file, which begins differently.
type known struct {
	info os.FileInfo
	head []byte
}

// follow returns the source for a plain file from an offset on, and for the
// files that take its name from now on. The file is first, unless that has no
// info.
func follow(path string, from int64, first known, s Selection) Source {
	there, isKnown := NewSuccessors(path, nil).f, HasParts(path)
	return Source{Name: path, Live: true, Open: func(ctx context.Context) (io.ReadCloser, error) {
		f := &follower{
			ctx: ctx, path: path, from: from, first: first, known: there.known,
			selection: s, changed: s.events.Changed(path),
		}
		return &opened{joinedFrom(f, isKnown), f}, nil
	}}
}

// followNew returns the source for a plain file that has come, and for the
// files of its set that are younger than old, which have been renamed since.
func followNew(path string, old rotation, s Selection) Source {
	return Source{Name: path, Live: true, Open: func(ctx context.Context) (io.ReadCloser, error) {
		f := &follower{
			ctx: ctx, path: path, waited: true, selection: s, changed: s.events.Changed(path),
		}
		f.rememberRotated(func(r rotation) bool { return old.set != "" && r.compare(old) <= 0 })
		return &opened{joined(f), f}, nil
	}}
}

func (f *follower) Read(p []byte) (int, error) {
	for {
		if len(f.late.lines) > 0 {
			return f.late.read(p), nil
		}
		if f.file == nil {
			if err := f.open(); err != nil {
				return 0, err
			}
		}
		if f.file != nil {
			n, err := f.read(p)
			if n > 0 || err != io.EOF {
				return n, err
			}
			if f.file != nil && f.atEnd() && f.last != '\n' && f.last != 0 && !f.continues() {
				f.last = '\n' // the next file begins a line
				p[0] = '\n'
				return 1, nil
			}
			if f.file == nil {
				continue
			}
		}
		if f.last == '\n' || f.last == 0 { // not within a line of the file
			f.late.look(func(file *os.File) { f.remember(knownFile(file)) })
			if len(f.late.lines) > 0 {
				continue
			}
		}
		if err := f.wait(); err != nil {
			return 0, err
		}
	}
}

// wait returns when the file is to be looked at, or the context ends.
func (f *follower) wait() error {
	poll := f.selection.poll()
	if len(f.next) > 0 {
		if left := time.Until(f.next[0].at.Add(renamedTime)); left > 0 {
			poll = min(poll, left)
		}
	}
	timer := time.NewTimer(poll)
	defer timer.Stop()
	select {
	case <-f.ctx.Done():
		return f.ctx.Err()
	case <-timer.C:
	case <-f.changed:
	}
	return nil
}

// read reads from the file, unless it was truncated and is longer again. After
// an event it opens the files that took the name: they may be deleted before
// the end of this one is reached.
func (f *follower) read(p []byte) (int, error) {
	select {
	case <-f.changed:
		f.notice()
	default:
	}
	if f.isRewritten() {
		return 0, io.EOF
	}
	n, err := f.file.Read(p)
	if n > 0 {
		if f.offset == 0 && !f.isCopy && !f.isFull && f.hasCopies() {
			return 0, io.EOF
		}
		if at := len(f.head); f.offset == int64(at) && at < sampleLen {
			f.head = append(f.head, p[:min(n, sampleLen-at)]...)
		}
		f.offset += int64(n)
		f.last = p[n-1]
		if info, err := f.file.Stat(); err == nil {
			f.size = max(f.size, info.Size())
		}
		f.recent = append(f.recent, p[max(n-sampleLen, 0):n]...)
		f.recent = append(f.recent[:0], f.recent[max(len(f.recent)-sampleLen, 0):]...)
		return n, nil
	}
	return n, err
}

// hasCopies reports whether there are copies of the file that are older than
// its first bytes: it may have been truncated again before these were read.
// Then the copies are read first.
func (f *follower) hasCopies() bool {
	list := f.copies(f.openOlder(f.file), f.file)
	if len(list) == 0 {
		return false
	}
	again := successor{file: f.file, at: time.Now(), again: true}
	f.next = slices.Concat(list, []successor{again}, f.next)
	f.file = nil
	return true
}

// isRewritten reports whether the bytes before the place of the reader are not
// the ones that it read.
func (f *follower) isRewritten() bool {
	isRecent, ok := f.hasRecent(f.file)
	return ok && !isRecent
}

// hasRecent reports whether a file has the bytes that were read last, before
// the place of the reader. ok is false if it has none there.
func (f *follower) hasRecent(file *os.File) (isRecent, ok bool) {
	var buf [sampleLen]byte
	b := buf[:len(f.recent)]
	if len(b) == 0 || int64(len(b)) > f.offset {
		return false, false
	}
	_, err := file.ReadAt(b, f.offset-int64(len(b)))
	return bytes.Equal(b, f.recent), err == nil
}

// open opens the next file, if there is one.
func (f *follower) open() (err error) {
	next := successor{from: f.from}
	if f.opened {
		next.from = 0
	} else if f.first.info != nil {
		if next.file = f.openFirst(); next.file == nil {
			next.from, f.waited = 0, true
			f.gone(f.first.info.Size()-f.from, "was removed or renamed")
		}
	}
	if f.waited {
		f.notice() // it may have been renamed before it was seen
	}
	if len(f.next) > 0 {
		if next = f.next[0]; next.again { // it may have been truncated again
			f.next = slices.Concat(f.copies(f.openOlder(next.file), next.file), f.next)
		}
		next, f.next, f.waited = f.next[0], f.next[1:], false
	} else if next.file != nil {
		f.waited = false
	} else if next.file, err = os.Open(f.path); err != nil {
		f.waited = true
		f.refuse(f.path, err)
		return nil
	}
	f.offset, f.size, f.recent, f.head = next.from, 0, f.recent[:0], nil
	f.file, f.opened, f.isCopy, f.refused = next.file, true, next.isCopy, false
	if f.offset > 0 {
		f.head = knownFile(f.file).head
	}
	_, err = f.file.Seek(f.offset, io.SeekStart)
	return err
}

// openFirst opens the first file under the name that it has now, or returns
// nil.
func (f *follower) openFirst() *os.File {
	set := f.look(func(m *rotatedFile, err error) (keep bool) {
		return err == nil && packing(m.path) == "" && knownFile(m.file).is(f.first)
	})
	for _, m := range set {
		if m.file != nil {
			return m.file
		}
	}
	return nil
}

// atEnd is called at the end of the file. It reports whether the file was
// replaced or truncated and the reader has moved on.
func (f *follower) atEnd() bool {
	mine, err := f.file.Stat()
	if err != nil {
		return false
	}
	if mine.Size() < f.offset || f.isRewritten() {
		return f.truncated()
	}
	if n := f.size - f.offset; n > 0 && mine.Size() == f.offset {
		f.gone(n, "was truncated")
		f.size = f.offset
	}
	f.notice()
	if len(f.next) == 0 {
		return false
	}
	if !f.isCopy {
		if !f.isFull && !slices.ContainsFunc(f.next, successor.hasLines) {
			f.next[0].at = time.Now() // what writes may not have noticed the renaming
		}
		if time.Since(f.next[0].at) < renamedTime {
			return false
		}
	}
	f.leave()
	return true
}

func (s successor) hasLines() bool {
	info, err := s.file.Stat()
	return err != nil || info.Size() > 0
}

// leave goes on to the next file, and keeps this one open for late lines. What
// is added to a copy is in the file that it is made of.
func (f *follower) leave() {
	if f.isCopy {
		f.remember(knownFile(f.file))
		_ = f.file.Close() // only read
	} else {
		f.late.add(f.file, f.offset)
	}
	f.file = nil
}

// continues reports whether the next file is a copy of what has been read, and
// has the rest of the last line.
func (f *follower) continues() bool { return f.next[0].from > 0 }

// truncated goes on with the copies that were made of a file before it was
// truncated, if there are any, and then from the beginning of the file.
func (f *follower) truncated() bool {
	set := f.openOlder(f.file)
	again := successor{file: f.file, at: time.Now(), again: true}
	at := len(set) - 1
	for at >= 0 && !f.isCopied(set[at].file) {
		at--
	}
	if at < 0 {
		f.gone(f.size-f.offset, "was truncated")
	} else {
		closeFiles(set[:at])
		file := set[at].file
		f.next = append(f.next, successor{file, f.offset, again.at, true, false})
		k := knownFile(file)
		f.remember(k)
		if n := f.size - max(k.info.Size(), f.offset); n > 0 {
			f.gone(n, "was truncated") // added behind the copy
		}
	}
	f.next = append(append(f.next, f.copies(set[at+1:], f.file)...), again)
	f.file = nil
	return true
}

// openOlder returns the files that belong to the path and are older than one of
// them, the oldest first, and opens the ones that are neither open nor known.
func (f *follower) openOlder(than *os.File) []rotatedFile {
	set := f.openNew()
	at := indexFile(set, knownFile(than).info) // it may have been renamed
	if n := len(set) - 1; at < 0 && n >= 0 && set[n].path == f.path {
		at = n
	}
	if at >= 0 {
		closeFiles(set[at:])
		return set[:at]
	}
	return set
}

// copies returns the opened files of a set that are copies made of a file
// before it was truncated, the oldest first, but neither the copy of what has
// been read of it, nor one of what it has now.
func (f *follower) copies(set []rotatedFile, of *os.File) (list []successor) {
	for _, m := range set {
		if m.file == nil {
			continue
		}
		k := knownFile(m.file)
		present := knownFile(of).head // after the copy: a copy is whole when it is truncated
		switch {
		case len(k.head) == 0, beginAlike(k.head, present): // it is about to be truncated
			_ = m.file.Close() // only read
			continue
		case beginAlike(k.head, f.head):
			_ = m.file.Close() // only read
		default:
			list = append(list, successor{file: m.file, at: time.Now(), isCopy: true})
		}
		f.remember(k)
	}
	return list
}

// beginAlike reports whether two files have the same beginning.
func beginAlike(a, b []byte) bool {
	n := min(len(a), len(b))
	return n > 0 && bytes.Equal(a[:n], b[:n])
}

// isCopied reports whether a file, which may be nil, is a copy of what was
// read.
func (f *follower) isCopied(file *os.File) bool {
	if file == nil {
		return false
	}
	isRecent, ok := f.hasRecent(file)
	return ok && isRecent
}

// isOpen reports whether a file is being read, or will be.
func (f *follower) isOpen(info os.FileInfo) bool {
	return isFile(f.file, info) ||
		slices.ContainsFunc(f.next, func(s successor) bool { return isFile(s.file, info) })
}

func isFile(file *os.File, info os.FileInfo) bool {
	if file == nil {
		return false
	}
	mine, err := file.Stat()
	return err == nil && os.SameFile(mine, info)
}

// maxKnown bounds the files that are remembered.
const maxKnown = 10_000

// remember makes a file known.
func (f *follower) remember(k known) {
	f.known = append(f.known, k)
	if n := len(f.known) - maxKnown; n > 0 {
		f.known = slices.Delete(f.known, 0, n)
	}
}

// knownAt returns the identity of the file with a name, without its beginning
// if it cannot be opened.
func knownAt(path string) (k known) {
	file, err := os.Open(path)
	if err != nil {
		k.info, _ = os.Stat(path)
		return k
	}
	defer file.Close() // only read
	return knownFile(file)
}

// knownFile returns the identity of a file; its info is nil if it has none.
func knownFile(file *os.File) (k known) {
	var err error
	if k.info, err = file.Stat(); err != nil {
		return known{}
	}
	var buf [sampleLen]byte
	n, _ := file.ReadAt(buf[:], 0) // a short file has a short beginning
	k.head = bytes.Clone(buf[:n])
	return k
}

// is reports whether two known files are the same one, which may have grown.
func (k known) is(other known) bool {
	n := min(len(k.head), len(other.head))
	return k.info != nil && other.info != nil && os.SameFile(k.info, other.info) &&
		bytes.Equal(k.head[:n], other.head[:n])
}

// Close closes the files.
func (f *follower) Close() error {
	for _, next := range f.next {
		_ = next.file.Close() // only read
	}
	f.late.close()
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}
