// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Successors finds the files that take the name of a file after it, for a
// reader that reads files in place. It is for one goroutine.
type Successors struct{ f *follower }

// NewSuccessors returns the Successors of the file that has a name now. The
// files that belong to it by their names now are older. What may have been lost
// is reported unless report is nil.
func NewSuccessors(path string, report func(format string, args ...any)) *Successors {
	return &Successors{newFollower(path, Selection{Report: report}, every)}
}

// Of returns the files that took the name after a file, in their order. The
// caller closes them. It calls Of with the last one next.
func (s *Successors) Of(file *os.File) (list []*os.File) {
	s.f.file = file
	s.f.notice()
	for _, next := range s.f.next {
		s.f.remember(knownFile(file))
		file = next.file
		list = append(list, file)
	}
	s.f.next = nil
	return list
}

// notice opens the files that took the name since the last look, in their
// order. New files that are older than the file that is read have no new lines,
// unless it was truncated, which is noticed first.
func (f *follower) notice() {
	now, err := os.Stat(f.path)
	if err != nil || f.isOpen(now) || f.isFull && len(f.next) > 0 ||
		f.file != nil && f.isTruncated() {
		return
	}
	noticed := time.Now()
	newest := f.file
	if n := len(f.next); n > 0 {
		newest = f.next[n-1].file
	}
	set := f.openNew(nil)
	at := indexOf(set, knownFile(f.file))
	if at >= 0 && set[at].path != f.path {
		f.place = set[at].stamp
	}
	at = max(at, 0)
	for _, m := range set[:at] {
		if m.file != nil && f.offset > 0 { // else it may be a copy of what the file had
			f.remember(knownFile(m.file))
		}
	}
	closeFiles(set[:at])
	var next []successor
	addUntil := func(end int) {
		for ; at < end; at++ {
			if m := set[at]; m.file != nil {
				next = append(next, successor{file: m.file, at: noticed})
			}
		}
	}
	for _, s := range f.next {
		addUntil(indexFile(set, knownFile(s.file).info))
		next = append(next, s)
	}
	addUntil(len(set))
	isMore := len(next) > len(f.next)
	if f.next = next; isMore && newest != nil {
		f.missed(set, knownFile(newest))
	}
}

// maxLooks bounds the number of times that a set is looked at because of files
// that are renamed during a look. When maxNext files are open, the younger ones
// wait until these are read: a process may open a limited number of files.
const (
	maxLooks = 10
	maxNext  = 250
)

// A rotatedFile is a file of a rotated set.
type rotatedFile struct {
	rotation
	info  os.FileInfo
	file  *os.File // nil if it was not opened, or is closed
	waits bool     // too many files are open
	left  bool     // the last look has not seen it: it may have another name, or none
}

// A visitor looks at a file, and reports whether it is to stay open.
type visitor func(m *rotatedFile, err error) (keep bool)

// openNew returns the files that belong to the path, the oldest first, and
// opens the ones that are neither open nor known. If these are too many, it
// returns the files up to the last opened file. Unless end is nil, it returns
// the files before end. If end is gone, it returns none: they may be younger.
func (f *follower) openNew(end *os.File) []rotatedFile {
	n := len(f.next)
	set := f.look(func(m *rotatedFile, err error) (keep bool) {
		if m.waits = n >= maxNext; m.waits || packing(m.path) != "" {
			return false
		}
		if err != nil {
			f.refuse(m.path, err)
			return false
		}
		if keep = f.isNew(m); keep {
			n++
		}
		return keep
	})
	at := len(set)
	if end != nil {
		at = max(indexOf(set, knownFile(end)), 0) // it may have been compressed
	}
	first := slices.IndexFunc(set[:at], func(m rotatedFile) bool { return m.waits })
	if f.isFull = first >= 0; f.isFull {
		at = first
	}
	closeFiles(set[at:])
	return set[:at]
}

// look returns the files that belong to the path, the oldest first. It opens
// each and calls visit once for it, with the error if it cannot be opened, and
// closes the ones that are not kept.
//
// A file that is renamed during a look may not be seen. So the set is looked at
// until it has not changed between two looks. Files get older names only, and a
// look goes from the oldest name to the path: the files that it sees are in
// their order, whatever is renamed. If the set changes all the time, look
// returns the files that were there before half of the looks: at least one look
// has seen each.
func (f *follower) look(visit visitor) (set []rotatedFile) {
	var last, early []rotatedFile
	for n := range maxLooks {
		now := f.lookOnce(set, visit)
		if n > 0 && slices.EqualFunc(now, last, rotatedFile.isUnchanged) {
			return set
		}
		set, last = joinLooks(set, now), slices.Clone(now)
		if n < maxLooks/2 {
			early = slices.Clone(set)
		}
		if f.floor != "" && f.file != nil && indexOf(set, knownFile(f.file)) < 0 {
			f.floor = "" // a clock that was set back made an older stamp
		}
	}
	// A copy that is younger than these comes before the file at the path.
	for at := len(set) - 1; at >= 0; at-- {
		i := indexFile(early, set[at].info)
		if i < 0 {
			closeFiles(set[at : at+1])
			set = slices.Delete(set, at, at+1)
		} else if early[i].path != f.path {
			break
		}
	}
	return set
}

func (m rotatedFile) isUnchanged(old rotatedFile) bool {
	return m.path == old.path && os.SameFile(m.info, old.info)
}

// lookOnce looks at each name once. It visits the files that the earlier looks
// have not seen.
func (f *follower) lookOnce(earlier []rotatedFile, visit visitor) (now []rotatedFile) {
	for _, r := range append(f.siblings(), rotationOf(f.path)) {
		info, err := os.Stat(r.path)
		if err != nil || indexFile(now, info) >= 0 {
			continue
		}
		m := rotatedFile{rotation: r, info: info}
		if at := indexFile(earlier, info); at >= 0 {
			m.file, m.waits = earlier[at].file, earlier[at].waits
			now = append(now, m)
			continue
		}
		m.file, err = os.Open(r.path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !isFile(m.file, info) {
			closeFiles([]rotatedFile{m}) // renamed since: the next look sees it
			continue
		}
		if !visit(&m, err) {
			closeFiles([]rotatedFile{m})
			m.file = nil
		}
		now = append(now, m)
	}
	return now
}

// joinLooks returns the files of earlier looks and of the last one. A file that
// this one has not seen comes behind the file that it came behind before.
func joinLooks(earlier, last []rotatedFile) []rotatedFile {
	for i, m := range earlier {
		if indexFile(last, m.info) >= 0 {
			continue
		}
		at := 0
		if i > 0 {
			at = indexFile(last, earlier[i-1].info) + 1
		}
		m.left = true
		last = slices.Insert(last, at, m)
	}
	return last
}

// indexFile returns the index of a file in a set, or -1.
func indexFile(set []rotatedFile, info os.FileInfo) int {
	return slices.IndexFunc(set, func(m rotatedFile) bool { return os.SameFile(m.info, info) })
}

// indexOf returns the index of a file in a set, or else of its compressed copy,
// or -1.
func indexOf(set []rotatedFile, k known) int {
	at := indexFile(set, k.info)
	if at < 0 && len(k.head) > 0 {
		for i, m := range slices.Backward(set) {
			if packing(m.path) != "" && bytes.Equal(packedHead(m.path), k.head) {
				return i
			}
		}
	}
	return at
}

// closeFiles closes the opened files of a set.
func closeFiles(set []rotatedFile) {
	for _, m := range set {
		_ = m.file.Close() // only read, or nil
	}
}

// packedHead returns the beginning of what a compressed file has.
func packedHead(path string) []byte {
	c := &chain{paths: []string{path}}
	defer c.Close()                                     // only read
	head, _ := io.ReadAll(io.LimitReader(c, sampleLen)) // as far as it can be read
	return head
}

// packedSize returns the number of bytes that a compressed file has, as far as
// it can be read, and at most maxPart.
func packedSize(path string) int64 {
	c := &chain{paths: []string{path}}
	defer c.Close() // only read
	n, _ := io.CopyN(io.Discard, c, maxPart)
	return n
}

// missed reports the files of a set that came after a file and can no longer be
// read.
func (f *follower) missed(set []rotatedFile, after known) {
	at := indexOf(set, after)
	if at < 0 {
		f.gone(0, "was removed or renamed")
		return
	}
	set = set[at:]
	for i, r := range set[1:] {
		if packing(r.path) != "" && !r.isPackedOf(set) {
			f.selection.report("%s of %s were compressed before they were read",
				amount(packedSize(r.path)), r.path)
		}
		if set[i].left || r.left {
			continue // the two numbers are not of one time
		}
		older, younger := f.settledAges(set[i], r)
		for age := older - 1; age > max(younger, 1); age-- {
			f.selection.report("%s of %s.%d were gone before they were read",
				amount(0), r.set, age-1)
		}
	}
}

// settledAges returns the ages of two consecutive files. A rotation renames the
// oldest file first: the number of this file is free until the next file has
// the number. So ages with a free number between them are read again for about
// renamedTime.
func (f *follower) settledAges(a, b rotatedFile) (older, younger int) {
	older, younger = a.age, b.age
	// The file that is written has the age 0, the one before it 2.
	for pause := time.Millisecond; older-1 > max(younger, 1) && pause < renamedTime; pause *= 2 {
		time.Sleep(pause)
		now := f.lookOnce([]rotatedFile{a, b}, func(*rotatedFile, error) bool { return false })
		x, y := indexFile(now, a.info), indexFile(now, b.info)
		if x >= 0 && y >= 0 { // else one is being renamed, or deleted
			older, younger = now[x].age, now[y].age
		}
	}
	return older, younger
}

// isPackedOf reports whether a compressed file has what a file of the set has,
// according to its name or to its beginning.
func (m rotatedFile) isPackedOf(set []rotatedFile) bool {
	unpacked, head := strings.TrimSuffix(m.path, packing(m.path)), packedHead(m.path)
	return slices.ContainsFunc(set, func(s rotatedFile) bool {
		return s.path == unpacked ||
			s.file != nil && len(head) > 0 && bytes.Equal(knownFile(s.file).head, head)
	})
}

// gone reports bytes that were added and have not been read, at least n of
// them, and why.
func (f *follower) gone(n int64, why string) {
	if n > 0 {
		f.selection.report("%s of %s were gone before they were read", amount(n), f.path)
		return
	}
	f.selection.report("%s %s: %s may be gone before they were read", f.path, why, amount(0))
}

// amount returns the text for at least n bytes.
func amount(n int64) string {
	if n > 0 {
		return fmt.Sprintf("at least %d bytes", n)
	}
	return "an unknown number of bytes"
}

// refuse reports once that a file is there that cannot be opened. The file at
// the path is waited for.
func (f *follower) refuse(path string, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	why := errors.Unwrap(err) // without the path
	if path == f.path {
		if !f.refused {
			f.selection.report("waiting for %s: %v", path, why)
		}
		f.refused = true
		return
	}
	k := knownAt(path)
	if k.info == nil || f.isKnown(k) {
		return
	}
	f.remember(k)
	f.selection.report("%s of %s could not be read: %v", amount(k.info.Size()), path, why)
}

// siblings returns the names of other files that belong to the path, the oldest
// first, without the ones whose stamps are older than the floor.
func (f *follower) siblings() (list []rotation) {
	dir, mine := filepath.Split(f.path)
	entries, err := os.ReadDir(filepath.Dir(f.path))
	if err != nil {
		return nil
	}
	set := rotationOf(mine).set
	for _, e := range entries {
		if e.Name() == mine || !e.Type().IsRegular() {
			continue
		}
		r := rotationOf(dir + e.Name())
		if r.set == dir+set && (r.stamp == "" || r.stamp >= f.floor) {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, rotation.compare)
	return list
}

// isNew reports whether a file is neither open nor known. Files get older names
// only, so the file at the path is new unless it is open, also if it has the
// identity and beginning of a file that was deleted.
func (f *follower) isNew(m *rotatedFile) bool {
	k := knownFile(m.file)
	if m.path == f.path {
		return k.info != nil && !f.isOpen(k.info) && !f.late.has(k.info)
	}
	return k.info != nil && !f.isKnown(k)
}

// isKnown reports whether a file is open or was read. A file that was empty is
// new when it has lines, and so is a shorter one: the system gives the identity
// of a deleted file to another one.
func (f *follower) isKnown(k known) bool {
	was := func(old known) bool {
		return k.is(old) && (len(old.head) > 0 || len(k.head) == 0) &&
			k.info.Size() >= old.info.Size()
	}
	return slices.ContainsFunc(f.known, was) || f.isOpen(k.info) || f.late.has(k.info)
}
