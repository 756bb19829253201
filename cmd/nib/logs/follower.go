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
	ctx       context.Context
	path      string
	selection Selection
	changed   <-chan struct{} // receives after events, if there are any

	file   *os.File // nil before the first file, and between two files
	offset int64
	size   int64  // the most bytes that the file has had
	head   []byte // the first bytes of the file
	recent []byte // the last bytes read
	isCopy bool   // the file is a copy, to which nothing is added
	left   known  // the file before it
	next   []successor
	isFull bool    // there are more successors than next has
	known  []known // files that have been read, or were there before
	place  string  // the stamp of the file, if a look has seen it
	floor  string  // files with older stamps are not looked at

	late    lateLines
	refused bool // it was reported that the path cannot be opened
}

// A successor is a file to be read next: the first one, a file that took the
// name later, opened before it is renamed itself, or a truncated file.
type successor struct {
	file   *os.File
	from   int64
	at     time.Time // when it was noticed, or had no line yet
	isCopy bool      // made of a file before it was truncated
}

// A known file has been read, or was there before the first one. The system may
// use its number again for another file, which begins differently.
type known struct {
	info os.FileInfo
	head []byte
}

// newFollower returns a follower of the files that take a name from now on. The
// files that belong to it by their names now are known if they match.
func newFollower(path string, s Selection, match func(rotation) bool) *follower {
	f := &follower{path: path, selection: s}
	f.look(func(m *rotatedFile, err error) (keep bool) {
		if m.path == f.path || !match(m.rotation) {
			return false
		}
		f.floor = max(f.floor, m.stamp)
		switch {
		case packing(m.path) != "":
		case err != nil:
			f.remember(known{info: m.info})
		default:
			f.remember(knownFile(m.file))
		}
		return false
	})
	return f
}

// every matches all files of a set.
func every(rotation) bool { return true }

// source returns a source for the files, to be opened once. It begins at an
// offset of first, unless first is nil.
func (f *follower) source(first *os.File, from int64) Source {
	isCut := first != nil && hasParts(first)
	if first != nil {
		f.next = []successor{{file: first, from: from}}
	}
	return Source{Name: f.path, Live: true, Open: func(ctx context.Context) (io.ReadCloser, error) {
		f.ctx, f.changed = ctx, f.selection.events.Changed(f.path)
		return joinedFrom(f, isCut), nil
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
			if f.file != nil {
				f.atEnd()
			}
			if f.file == nil && f.isInLine() && f.next[0].from == 0 { // it begins a line
				p[0] = '\n'
				return 1, nil
			}
		}
		if !f.isInLine() {
			f.late.look(func(file *os.File) { f.remember(knownFile(file)) })
			if len(f.late.lines) > 0 {
				continue
			}
		}
		if f.file == nil && len(f.next) > 0 {
			continue
		}
		if err := f.wait(); err != nil {
			return 0, err
		}
	}
}

// isInLine reports whether the last line that was read has no end yet.
func (f *follower) isInLine() bool {
	n := len(f.recent)
	return n > 0 && f.recent[n-1] != '\n'
}

// wait returns when the file is to be looked at, or the context ends.
func (f *follower) wait() error {
	poll := f.selection.poll()
	if len(f.next) > 0 {
		if left := time.Until(f.next[0].at.Add(renamedTime)); left > 0 {
			poll = min(poll, left)
		}
	}
	select {
	case <-f.ctx.Done():
	case <-time.After(poll):
	case <-f.changed:
	}
	return f.ctx.Err()
}

// open opens the next file, if there is one.
func (f *follower) open() error {
	if len(f.next) == 0 {
		f.notice()
	} else if f.isCopy && !f.next[0].isCopy { // it may have been truncated again
		f.next = append(f.copies(f.next[0].file, f.left), f.next...)
	}
	if len(f.next) == 0 {
		return nil
	}
	next := f.next[0]
	f.next = f.next[1:]
	f.file, f.offset, f.size, f.isCopy = next.file, next.from, 0, next.isCopy
	f.head, f.refused, f.place = nil, false, ""
	if f.offset == 0 {
		f.recent = f.recent[:0]
	} else {
		f.head = knownFile(f.file).head
	}
	_, err := f.file.Seek(f.offset, io.SeekStart)
	return err
}

// read reads from the file, and leaves it if it was truncated. After an event
// it opens the files that took the name: they may be deleted before the end of
// this one is reached.
func (f *follower) read(p []byte) (int, error) {
	select {
	case <-f.changed:
		f.notice()
	default:
	}
	info, bad := f.file.Stat()
	if f.isTruncated() {
		f.truncated()
		return 0, io.EOF
	}
	n, err := f.file.Read(p)
	if n == 0 {
		return 0, err
	}
	if isSame, err := f.hasRecent(f.file); err == nil && !isSame { // truncated, and written anew
		f.truncated()
		return 0, io.EOF
	}
	if f.offset == 0 && !f.isCopy && !f.isFull {
		// It may have been truncated again before these bytes were read.
		if list := f.copies(f.file, f.left); len(list) > 0 {
			f.readAgain(list)
			return 0, io.EOF
		}
	}
	if at := len(f.head); f.offset == int64(at) && at < sampleLen {
		f.head = append(f.head, p[:min(n, sampleLen-at)]...)
	}
	f.offset += int64(n)
	if bad == nil { // looked at before the read: the file was not yet truncated then
		f.size = max(f.size, info.Size())
	}
	f.recent = append(f.recent, p[max(n-sampleLen, 0):n]...)
	f.recent = append(f.recent[:0], f.recent[max(len(f.recent)-sampleLen, 0):]...)
	return n, nil
}

// atEnd leaves the file, whose end was reached, if it was replaced.
func (f *follower) atEnd() {
	mine, err := f.file.Stat()
	if n := f.size - f.offset; n > 0 && err == nil && mine.Size() == f.offset {
		f.gone(n, "was truncated")
		f.size = f.offset
	}
	f.notice()
	if len(f.next) == 0 {
		return
	}
	if !f.isCopy && !f.isFull && !slices.ContainsFunc(f.next, successor.hasLines) {
		f.next[0].at = time.Now() // what writes may not have noticed the renaming
	}
	if !f.isCopy && time.Since(f.next[0].at) < renamedTime {
		return
	}
	f.left, f.floor = knownFile(f.file), max(f.floor, f.place)
	if f.isCopy { // what is added to it is in the file that it is made of
		_ = f.file.Close() // only read
	} else {
		f.late.add(f.file, f.offset)
	}
	f.file = nil
}

func (s successor) hasLines() bool {
	info, err := s.file.Stat()
	return err != nil || info.Size() > 0
}

// truncated goes on with the copies that were made of the file before it was
// truncated, if there are any, and then from the beginning of the file.
func (f *follower) truncated() {
	list, n, isWhole := f.copies(f.file, known{}), f.size-f.offset, false
	if at := slices.IndexFunc(list, f.isCopied); at >= 0 {
		for _, older := range list[:at] {
			_ = older.file.Close() // only read
		}
		list = list[at:]
		list[0].from = f.offset
		if info, err := list[0].file.Stat(); err == nil && info.Size() >= f.offset {
			n, isWhole = f.size-info.Size(), true // added behind the copy
		}
	}
	if n > 0 || !isWhole {
		f.gone(n, "was truncated")
	}
	f.readAgain(list)
}

// readAgain goes on with copies of the file, and then from the beginning of the
// file.
func (f *follower) readAgain(copies []successor) {
	f.next = slices.Concat(copies, []successor{{file: f.file}}, f.next)
	f.file = nil
}

// copies opens the copies of a file that were made before it was truncated, the
// oldest first: the new files that are older. If there are any, it reports what
// is missing between the file before them, unless that has no info, and them.
func (f *follower) copies(of *os.File, before known) (list []successor) {
	set := f.openNew(of)
	isOld := func(m rotatedFile) bool { return m.file == nil }
	opened := slices.DeleteFunc(slices.Clone(set), isOld)
	for i, m := range opened {
		younger := of
		if i+1 < len(opened) {
			younger = opened[i+1].file
		}
		isPart := isPartOf(m.file, younger)
		if !isPart || younger != of { // else it is being made
			f.remember(knownFile(m.file))
		}
		if isPart {
			_ = m.file.Close() // only read
			continue
		}
		list = append(list, successor{file: m.file, isCopy: true})
	}
	if len(list) > 0 && before.info != nil {
		f.missed(set, before)
	}
	return list
}

// isPartOf reports whether another file begins with the bytes of a file, as far
// as the first and the last of them show.
func isPartOf(file, of *os.File) bool {
	info, err := file.Stat()
	if err != nil {
		return false
	}
	end := max(info.Size()-sampleLen, 0)
	return bytes.HasPrefix(sampleAt(of, 0), sampleAt(file, 0)) &&
		bytes.HasPrefix(sampleAt(of, end), sampleAt(file, end))
}

// isCopied reports whether a copy has what was read: the bytes before the place
// of the reader, unless it is shorter.
func (f *follower) isCopied(c successor) bool {
	k := knownFile(c.file)
	n := min(len(k.head), len(f.head))
	isSame, err := f.hasRecent(c.file)
	return n > 0 && bytes.Equal(k.head[:n], f.head[:n]) && (isSame || err == io.EOF)
}

// isTruncated reports whether the file is shorter than what was read, or has
// other bytes before the place of the reader. A copy may be shorter.
func (f *follower) isTruncated() bool {
	info, err := f.file.Stat()
	isSame, bad := f.hasRecent(f.file)
	return err == nil && info.Size() < f.offset && !f.isCopy || bad == nil && !isSame
}

// hasRecent reports whether a file has the bytes that were read last, before
// the place of the reader. The error is io.EOF if the file is shorter.
func (f *follower) hasRecent(file *os.File) (bool, error) {
	var buf [sampleLen]byte
	b := buf[:len(f.recent)]
	_, err := file.ReadAt(b, f.offset-int64(len(b)))
	return bytes.Equal(b, f.recent), err
}

// isOpen reports whether a file is being read, or will be.
func (f *follower) isOpen(info os.FileInfo) bool {
	return isFile(f.file, info) ||
		slices.ContainsFunc(f.next, func(s successor) bool { return isFile(s.file, info) })
}

// isFile reports whether an open file, which may be nil, is the one with info.
func isFile(file *os.File, info os.FileInfo) bool {
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
	k.head = sampleAt(file, 0)
	return k
}

// sampleAt returns the bytes of a file at an offset, fewer at its end.
func sampleAt(file *os.File, at int64) []byte {
	b := make([]byte, sampleLen)
	n, _ := file.ReadAt(b, at)
	return b[:n]
}

// is reports whether two known files are the same one, which may have grown.
func (k known) is(other known) bool {
	return k.info != nil && other.info != nil && os.SameFile(k.info, other.info) &&
		(bytes.HasPrefix(k.head, other.head) || bytes.HasPrefix(other.head, k.head))
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
