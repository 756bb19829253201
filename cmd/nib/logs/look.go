// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Successors finds the files that take the name of a file after it, for a
// reader that reads files in place. It is for one goroutine.
type Successors struct{ f follower }

// NewSuccessors returns the Successors of the file that has a name now. The
// files that belong to it by their names now are older. What may have been lost
// is reported unless report is nil.
func NewSuccessors(path string, report func(format string, args ...any)) *Successors {
	s := &Successors{follower{path: path, selection: Selection{Report: report}}}
	for _, r := range s.f.rotated() {
		s.f.remember(knownAt(r.path))
	}
	return s
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
// order.
func (f *follower) notice() {
	now, err := os.Stat(f.path)
	if err != nil || f.isOpen(now) || f.isFull && len(f.next) > 0 {
		return
	}
	noticed := time.Now()
	newest := f.file
	if n := len(f.next); n > 0 {
		newest = f.next[n-1].file
	}
	all, files := f.look()
	if len(files) == 0 {
		return
	}
	at := indexOf(all, newest)
	for _, file := range files {
		f.next = append(f.next, successor{file: file, at: noticed})
	}
	switch {
	case newest == nil:
	case at < 0:
		f.gone(0, "was removed or renamed")
	default:
		f.missed(all[at:])
	}
}

// maxLooks bounds the number of times that the files are listed again because
// of renaming during the look. When maxNext files are open, the younger ones
// wait until these are read: a process may open a limited number of files.
const (
	maxLooks = 10
	maxNext  = 250
)

// look returns the files that belong to the path, the oldest first, and opens
// the ones that are neither open nor known. If these are too many, it returns
// the files up to the last opened file.
func (f *follower) look() (all []rotation, files []*os.File) {
	for range maxLooks {
		for _, file := range files {
			_ = file.Close() // only read
		}
		// A file that took the name before this one is listed after it.
		last := f.openNew(f.path)
		all, f.isFull = f.siblings(), false
		var isWhole bool
		if all, files, isWhole = f.openAll(all, last); isWhole {
			break
		}
	}
	return all, files
}

// openAll opens files that are neither open nor known, and returns them with
// last, which had the path, at its place, and the names that it has come to. It
// reports false if names have changed since.
func (f *follower) openAll(
	all []rotation, last *os.File,
) (names []rotation, files []*os.File, isWhole bool) {
	isWhole = true
	for i, r := range all {
		if len(f.next)+len(files) == maxNext {
			if f.isFull = true; last != nil {
				_ = last.Close() // only read
			}
			return all[:i], files, isWhole
		}
		if packing(r.path) != "" {
			continue
		}
		file := f.openNew(r.path)
		info, err := os.Stat(r.path)
		switch {
		case file != nil && isFile(last, info):
			_ = file.Close() // it is open
			file, last = last, nil
		case err != nil, file != nil && !isFile(file, info):
			isWhole = false
		}
		if file != nil {
			files = append(files, file)
		}
	}
	all = append(all, rotationOf(f.path))
	if last == nil {
		return all, files, isWhole
	}
	info, err := os.Stat(f.path)
	return all, append(files, last), isWhole && err == nil && isFile(last, info)
}

// indexOf returns the index of the name that a file has now, or else of its
// compressed copy, or -1.
func indexOf(list []rotation, file *os.File) int {
	if file == nil {
		return -1
	}
	at := slices.IndexFunc(list, func(r rotation) bool {
		info, err := os.Stat(r.path)
		return err == nil && isFile(file, info)
	})
	if head := knownFile(file).head; at < 0 && len(head) > 0 {
		for i, r := range slices.Backward(list) {
			if packing(r.path) != "" && bytes.Equal(packedHead(r.path), head) {
				return i
			}
		}
	}
	return at
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

// missed reports the files after the first one of a rotated set that can no
// longer be read.
func (f *follower) missed(set []rotation) {
	for i, r := range set[1:] {
		unpacked := strings.TrimSuffix(r.path, packing(r.path))
		isThere := func(o rotation) bool { return o.path == unpacked }
		if !slices.ContainsFunc(set, isThere) {
			f.selection.report("%s of %s were compressed before they were read",
				amount(packedSize(r.path)), r.path)
		}
		// The file that is written has the age 0, the one before it 2.
		for age := set[i].age - 1; age > max(r.age, 1); age-- {
			f.selection.report("%s of %s.%d were gone before they were read",
				amount(0), r.set, age-1)
		}
	}
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
	if errors.Is(err, os.ErrNotExist) {
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

// rotated returns the plain files that belong to the path by their names, the
// oldest first.
func (f *follower) rotated() []rotation {
	return slices.DeleteFunc(f.siblings(), func(r rotation) bool { return packing(r.path) != "" })
}

// siblings returns the files that belong to the path by their names, the oldest
// first.
func (f *follower) siblings() (list []rotation) {
	entries, err := listed(filepath.Dir(f.path))
	if err != nil {
		return nil
	}
	set := rotationOf(f.path)
	for _, e := range entries {
		r := rotationOf(filepath.Join(filepath.Dir(f.path), e.Name()))
		r.path = filepath.Clean(r.path)
		if filepath.Clean(r.set) != filepath.Clean(set.set) || r.path == filepath.Clean(f.path) ||
			!e.Type().IsRegular() {
			continue
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, rotation.compare)
	return list
}

// listed returns the entries of a directory. A listing may lack a file that is
// renamed while it is made, and have a file that is renamed later. So it is
// made again until there are no more files: then all of them, and the files
// before them, were there when the last listing began.
func listed(dir string) (entries []os.DirEntry, err error) {
	byName := func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) }
	for n := -1; n < len(entries); {
		n = len(entries)
		list, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		entries = append(entries, list...)
		slices.SortFunc(entries, byName)
		isSame := func(a, b os.DirEntry) bool { return byName(a, b) == 0 }
		entries = slices.CompactFunc(entries, isSame)
	}
	return entries, nil
}

// openNew opens a file unless it is open, or known.
func (f *follower) openNew(path string) *os.File {
	file, err := os.Open(path)
	if err != nil {
		f.refuse(path, err)
		return nil
	}
	k := knownFile(file)
	if k.info != nil && !f.isKnown(k) {
		return file
	}
	_ = file.Close() // only read
	return nil
}

// isKnown reports whether a file is open or was read. A file that was empty is
// new when it has lines: the system gives its identity to another one.
func (f *follower) isKnown(k known) bool {
	was := func(old known) bool { return k.is(old) && (len(old.head) > 0 || len(k.head) == 0) }
	return f.isOpen(k.info) || f.late.has(k.info) || slices.ContainsFunc(f.known, was)
}
