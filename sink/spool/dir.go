// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

const (
	segmentExt = ".seg"
	madeExt    = ".seg.tmp"
	madeSuffix = ".tmp"
	badExt     = ".bad"
)

// A dir is the directory of a spool, locked.
type dir struct {
	fs   vfs.FS
	path string
	lock io.Closer

	spool uint64
	gen   uint32
	boot  uint64
	last  uint64 // highest number of a segment, quarantined ones included
	bad   int    // files moved out of the way

	strict bool // files of other users are refused

	// What tidy has to do.
	unfinished []string // files that a dead process was making
	damaged    []string // files to be quarantined
	empty      []uint64 // segments that were never used

	unused   uint64 // how many numbers the segments behind the last one that was used could have taken
	unknown  bool   // one of these was quarantined, and may have been used
	unmapped bool   // segments are written, not mapped: see twin
	minFree  int64  // bytes of the volume that are left to others
	sweeper  *sweeper

	mu      sync.Mutex
	owned   map[uint64]bool // segments whose copies are the copier's, and whether they are removed
	removed func()          // notifies the copier
	noted   []opError       // errors of operations without a Sink to report them
}

// openDir takes the directory for this process, makes it if need be, and finds
// the segments in it, oldest first.
func openDir(path string, c *Config) (d *dir, old []segment.Old, err error) {
	fsys := c.fs
	d = &dir{fs: fsys, path: path, boot: c.boot, minFree: c.MinFree, owned: map[uint64]bool{}, sweeper: newSweeper(), strict: true}
	if err := fsys.MkdirAll(path, 0o700); err != nil {
		return nil, nil, err
	}
	if err := checkDir(fsys, path); err != nil {
		return nil, nil, err
	}
	switch _, err := fsys.Lstat(d.name("lock")); {
	case err == nil && c.volume.remote && !c.Adopt:
		return nil, nil, ErrAdopt
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, nil, err
	}
	if err = d.take(c); err != nil {
		return nil, nil, err
	}
	f, hasFile := d.lock.(vfs.File)
	d.unmapped = c.Access == AccessWritten || !segment.CanMap || !hasFile || f.Fd() == ^uintptr(0)
	if hasFile {
		err = d.checkFile(f, "lock")
	}
	if err == nil {
		old, err = d.list()
	}
	if err != nil {
		_ = d.lock.Close() // nothing was written to it
		return nil, nil, err
	}
	return d, old, nil
}

// checkDir refuses a directory that others may write to.
func checkDir(fsys vfs.FS, path string) error {
	info, err := fsys.Lstat(path)
	if err != nil {
		return err
	}
	if !info.Mode.IsDir() || info.Mode.Perm()&0o022 != 0 && runtime.GOOS != "windows" {
		return fmt.Errorf("%w: %v", ErrUnsafe, info.Mode)
	}
	return checkOwner(info, "it")
}

// checkOwner refuses what belongs to another user, who may change it at any
// time, whatever its mode is.
func checkOwner(info vfs.Info, name string) error {
	if info.Foreign() {
		return fmt.Errorf("%w: %s belongs to user %d, and this process is user %d", ErrUnsafe, name, info.Owner, os.Geteuid())
	}
	return nil
}

// isFile reports whether there is a file called base, as far as that is known,
// and no directory, link, or pipe, which no spool has made.
func (d *dir) isFile(base string) bool {
	info, err := d.fs.Lstat(d.name(base))
	return err != nil || info.Mode.IsRegular()
}

// checkFile is checkOwner for an open file, and for processes that deliver or
// write: looking at a spool of another user is allowed.
func (d *dir) checkFile(f vfs.File, name string) error {
	if !d.strict {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return checkOwner(info, name)
}

func (d *dir) name(base string) string { return filepath.Join(d.path, base) }

func hex(number uint64) string { return fmt.Sprintf("%016x", number) }

func segmentName(number uint64) string { return hex(number) + segmentExt }

// A found reports which files of a segment exist.
type found struct{ segment, copy bool }

// list reads the headers of all segments. It changes nothing: what is to be
// changed is left to tidy, so an Open that fails leaves every file alone. A
// file that cannot be read is an error, and no damage: a later attempt may be
// able to read it.
func (d *dir) list() (old []segment.Old, err error) {
	names, err := d.fs.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	files := d.sort(names)
	for _, number := range slices.Sorted(maps.Keys(files)) {
		f := files[number]
		g, used, ok, err := d.lookAt(number, f.segment, f.copy)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		d.spool, d.gen = g.Spool, max(d.gen, g.Gen)
		if used {
			old = append(old, g)
			d.unused, d.unknown = 0, false
			continue
		}
		if g.Boot != d.boot || d.boot == 0 { // else it is as it was left
			d.unused += uint64(g.Size / segment.RecordHead)
		}
		d.empty = append(d.empty, number)
	}
	d.gen++
	if d.spool == 0 {
		d.spool, d.unused = newSpoolID(), 0
	}
	return old, nil
}

// sort finds the segments and copies among names, and notes the highest number,
// which counts if the file was quarantined, too: a number is never used again.
func (d *dir) sort(names []string) map[uint64]found {
	files := map[uint64]found{}
	for _, name := range names {
		digits, ext, _ := strings.Cut(name, ".")
		ext = "." + ext
		number, err := strconv.ParseUint(digits, 16, 64)
		isNumber := err == nil && hex(number) == digits
		switch {
		case isNumber && (ext == madeExt || ext == copyExt+madeSuffix):
			d.unfinished = append(d.unfinished, name)
		case isNumber && (ext == segmentExt || ext == copyExt):
			f := files[number]
			f.segment, f.copy = f.segment || ext == segmentExt, f.copy || ext == copyExt
			files[number] = f
			d.last = max(d.last, number)
		case isNumber && (ext == segmentExt+badExt || ext == copyExt+badExt):
			d.last = max(d.last, number)
		}
	}
	return files
}

// lookAt reads the header of a segment, or that of its copy if the one of the
// segment is not there. A file that is neither is to be quarantined. An error
// means that a file cannot be read now, or has a later version.
func (d *dir) lookAt(number uint64, exists, kept bool) (g segment.Old, used, ok bool, err error) {
	fits := func(g segment.Old, err error) bool {
		return err == nil && g.Number == number && (d.spool == 0 || g.Spool == d.spool)
	}
	var unread error
	if exists {
		g, used, err = d.look(segmentName(number))
		switch ok = fits(g, err); {
		case isPageError(err): // the copy may have it
			unread = err
		case err != nil && !errors.Is(err, segment.ErrHeader):
			return g, false, false, err
		}
	}
	if kept && !(ok && used) {
		k, usedToo, err := d.look(copyName(number))
		switch {
		case err != nil && !errors.Is(err, segment.ErrHeader):
			return g, false, false, err
		case !fits(k, err):
			d.damaged = append(d.damaged, copyName(number))
			kept = false
		case usedToo && (!ok || k.Identity == g.Identity):
			g, used, ok = k, true, true
		}
	}
	if unread != nil && !ok {
		return g, false, false, unread
	}
	if unread != nil {
		d.note(readInstead, unread)
	}
	if exists && !ok {
		d.damaged = append(d.damaged, segmentName(number))
		d.unused += segment.MaxSize / segment.RecordHead
		d.unknown = true
	}
	g.Copied = kept
	return g, used, ok, nil
}

// look reads the header of a segment. The error is errHeader if that was read
// and is damaged, and ErrVersion if it is of a later version. One that is sound
// and was not used yet is not kept.
func (d *dir) look(name string) (g segment.Old, used bool, err error) {
	if !d.isFile(name) {
		return g, false, segment.ErrHeader
	}
	f, err := d.fs.Open(d.name(name), os.O_RDONLY, 0)
	if err != nil {
		return g, false, err
	}
	defer f.Close()
	if err := d.checkFile(f, name); err != nil {
		return g, false, err
	}
	b := make([]byte, segment.HeaderSize)
	if n, err := f.ReadAt(b, 0); err == io.EOF && n < 88 {
		return g, false, segment.ErrHeader
	} else if err != nil && err != io.EOF {
		return g, false, err
	}
	id, err := segment.ReadHeader(b)
	if err != nil {
		return g, false, fmt.Errorf("%s: %w", name, err)
	}
	g.Identity = id
	if g.Start, used = segment.ReadStart(b, id.Seed()); used {
		return g, true, nil
	}
	var first [8]byte // of the first record
	if _, err := f.ReadAt(first[:], segment.HeaderSize); err != nil && err != io.EOF {
		return g, false, err
	}
	for _, x := range append(b[64:88:88], first[:]...) {
		if x != 0 {
			return g, false, errStart // it had records, and which is unknown
		}
	}
	return g, false, nil
}

var errStart = fmt.Errorf("%w: its start is damaged, or is being written", segment.ErrHeader)

// tidy makes the changes that list has found to be necessary: what a dead
// process was making, and segments that were never used, are removed, and what
// is damaged is quarantined. If a step fails the next start does it.
func (d *dir) tidy() (err error) {
	note := func(e error) {
		if e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	for _, name := range d.unfinished {
		note(d.fs.Remove(d.name(name)))
	}
	d.bad = len(d.damaged)
	for _, name := range d.damaged {
		note(d.quarantine(name))
	}
	for _, number := range d.empty {
		note(d.remove(number, nil))
	}
	return err
}

// quarantine renames a file so that no reader finds it.
func (d *dir) quarantine(name string) error {
	return d.fs.Rename(d.name(name), d.name(name+badExt))
}
