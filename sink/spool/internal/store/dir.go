// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
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
	SegmentExt = ".seg"
	MadeExt    = ".seg.tmp"
	MadeSuffix = ".tmp"
	BadExt     = ".bad"
)

// A Dir is the directory of a spool, locked.
type Dir struct {
	FS   vfs.FS
	Path string
	Lock io.Closer

	Spool uint64
	Gen   uint32
	Boot  uint64
	Last  uint64 // highest number of a segment, quarantined ones included
	Bad   int    // files moved out of the way

	strict bool // files of other users are refused

	untidy

	Unused   uint64 // how many numbers the segments behind the last one that was used could have taken
	Unknown  bool   // one of these was quarantined, and may have been used
	unmapped bool   // segments are written, not mapped
	minFree  int64  // bytes of the volume that are left to others
	Sweeper  *sweeper

	mu      sync.Mutex
	owned   map[uint64]bool // segments whose copies are the copier's, and whether they are removed
	removed func()          // notifies the copier
	noted   []Noted         // errors of operations that are reported later
}

// An untidy is what tidy has to do.
type untidy struct {
	unfinished []string // files that a dead process was making
	damaged    []string // files to be quarantined
	empty      []uint64 // segments that were never used
}

// OpenDir takes the directory for this process, makes it if need be, and finds
// the segments in it, oldest first.
func OpenDir(path string, o *Options) (d *Dir, old []segment.Old, err error) {
	fsys := o.FS
	d = &Dir{FS: fsys, Path: path, Boot: o.Boot, minFree: o.MinFree, owned: map[uint64]bool{}, Sweeper: newSweeper(), strict: true}
	if err := fsys.MkdirAll(path, 0o700); err != nil {
		return nil, nil, err
	}
	if err := checkDir(fsys, path); err != nil {
		return nil, nil, err
	}
	switch _, err := fsys.Lstat(d.Name("lock")); {
	case err == nil && o.Volume.Remote && !o.Adopt:
		return nil, nil, ErrAdopt
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, nil, err
	}
	if err = d.take(o); err != nil {
		return nil, nil, err
	}
	f, hasFile := d.Lock.(vfs.File)
	d.unmapped = o.Written || !segment.CanMap || !hasFile || f.Fd() == ^uintptr(0)
	if hasFile {
		err = d.checkFile(f, "lock")
	}
	if err == nil {
		old, err = d.List()
	}
	if err != nil {
		_ = d.Lock.Close() // nothing was written to it
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
	return CheckOwner(info, "it")
}

// CheckOwner refuses what belongs to another user, who may change it at any
// time, whatever its mode is.
func CheckOwner(info vfs.Info, name string) error {
	if info.Foreign() {
		return fmt.Errorf("%w: %s belongs to user %d, and this process is user %d", ErrUnsafe, name, info.Owner, os.Geteuid())
	}
	return nil
}

// IsFile reports whether there is a file called base, as far as that is known,
// and no directory, link, or pipe, which no spool has made.
func (d *Dir) IsFile(base string) bool {
	info, err := d.FS.Lstat(d.Name(base))
	return err != nil || info.Mode.IsRegular()
}

// checkFile is checkOwner for an open file, and for processes that deliver or
// write: looking at a spool of another user is allowed.
func (d *Dir) checkFile(f vfs.File, name string) error {
	if !d.strict {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return CheckOwner(info, name)
}

func (d *Dir) Name(base string) string { return filepath.Join(d.Path, base) }

func hex(number uint64) string { return fmt.Sprintf("%016x", number) }

func SegmentName(number uint64) string { return hex(number) + SegmentExt }

// A found reports which files of a segment exist.
type found struct{ segment, copy bool }

// List reads the headers of all segments. It changes nothing: what is to be
// changed is left to tidy, so an Open that fails leaves every file alone. A
// file that cannot be read is an error, and no damage: a later attempt may be
// able to read it.
func (d *Dir) List() (old []segment.Old, err error) {
	names, err := d.FS.ReadDir(d.Path)
	if err != nil {
		return nil, err
	}
	files := d.sortNames(names)
	for _, number := range slices.Sorted(maps.Keys(files)) {
		f := files[number]
		g, used, ok, err := d.lookAt(number, f.segment, f.copy)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		d.Spool, d.Gen = g.Spool, max(d.Gen, g.Gen)
		if used {
			old = append(old, g)
			d.Unused, d.Unknown = 0, false
			continue
		}
		if g.Boot != d.Boot || d.Boot == 0 { // else it is as it was left
			d.Unused += uint64(g.Size / segment.RecordHead)
		}
		d.empty = append(d.empty, number)
	}
	d.Gen++
	if d.Spool == 0 {
		d.Spool, d.Unused = NewSpoolID(), 0
	}
	return old, nil
}

// sortNames finds the segments and copies among names, and notes the highest
// number, which counts if the file was quarantined, too: a number is never used
// again.
func (d *Dir) sortNames(names []string) map[uint64]found {
	files := map[uint64]found{}
	for _, name := range names {
		digits, ext, _ := strings.Cut(name, ".")
		ext = "." + ext
		number, err := strconv.ParseUint(digits, 16, 64)
		isNumber := err == nil && hex(number) == digits
		switch {
		case isNumber && (ext == MadeExt || ext == CopyExt+MadeSuffix):
			d.unfinished = append(d.unfinished, name)
		case isNumber && (ext == SegmentExt || ext == CopyExt):
			f := files[number]
			f.segment, f.copy = f.segment || ext == SegmentExt, f.copy || ext == CopyExt
			files[number] = f
			d.Last = max(d.Last, number)
		case isNumber && (ext == SegmentExt+BadExt || ext == CopyExt+BadExt):
			d.Last = max(d.Last, number)
		}
	}
	return files
}

// lookAt reads the header of a segment, or that of its copy if the one of the
// segment is not there. A file that is neither is to be quarantined. An error
// means that a file cannot be read now, or has a later version.
func (d *Dir) lookAt(number uint64, exists, kept bool) (g segment.Old, used, ok bool, err error) {
	fits := func(g segment.Old, err error) bool {
		return err == nil && g.Number == number && (d.Spool == 0 || g.Spool == d.Spool)
	}
	var unread error
	if exists {
		g, used, err = d.Look(SegmentName(number))
		switch ok = fits(g, err); {
		case IsPageError(err): // the copy may have it
			unread = err
		case err != nil && !errors.Is(err, segment.ErrHeader):
			return g, false, false, err
		}
	}
	if kept && !(ok && used) {
		k, usedToo, err := d.Look(CopyName(number))
		switch {
		case err != nil && !errors.Is(err, segment.ErrHeader):
			return g, false, false, err
		case !fits(k, err):
			d.damaged = append(d.damaged, CopyName(number))
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
		d.damaged = append(d.damaged, SegmentName(number))
		d.Unused += segment.MaxSize / segment.RecordHead
		d.Unknown = true
	}
	g.Copied = kept
	return g, used, ok, nil
}

// Look reads the header of a segment. The error is ErrHeader if that was read
// and is damaged, and ErrVersion if it is of a later version. One that is sound
// and was not used yet is not kept.
func (d *Dir) Look(name string) (g segment.Old, used bool, err error) {
	if !d.IsFile(name) {
		return g, false, segment.ErrHeader
	}
	f, err := d.FS.Open(d.Name(name), os.O_RDONLY, 0)
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
			return g, false, ErrStart // it had records, and which is unknown
		}
	}
	return g, false, nil
}

var ErrStart = fmt.Errorf("%w: its start is damaged, or is being written", segment.ErrHeader)

// Tidy makes the changes that list has found to be necessary: what a dead
// process was making, and segments that were never used, are removed, and what
// is damaged is quarantined. If a step fails the next start does it.
func (d *Dir) Tidy() (err error) {
	note := func(e error) {
		if e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	for _, name := range d.unfinished {
		note(d.FS.Remove(d.Name(name)))
	}
	d.Bad = len(d.damaged)
	for _, name := range d.damaged {
		note(d.Quarantine(name))
	}
	for _, number := range d.empty {
		note(d.Remove(number, nil))
	}
	return err
}

// Quarantine renames a file so that no reader finds it.
func (d *Dir) Quarantine(name string) error {
	return d.FS.Rename(d.Name(name), d.Name(name+BadExt))
}

// SegmentNumber returns the number that the name of a segment, or of its copy,
// has.
func SegmentNumber(name string) (uint64, bool) {
	digits, ext, _ := strings.Cut(name, ".")
	number, err := strconv.ParseUint(digits, 16, 64)
	return number, err == nil && hex(number) == digits && ("."+ext == SegmentExt || "."+ext == CopyExt)
}

func IsSegmentName(name string) bool {
	_, ok := SegmentNumber(name)
	return ok
}

func NewSpoolID() uint64 { return rand.Uint64() | 1 }

// Unlock gives the directory back.
func (d *Dir) Unlock() error { return d.Lock.Close() }

// OnRemoved has f called when a segment is removed whose copy is the copier's.
func (d *Dir) OnRemoved(f func()) { d.removed = f }

// LookInto returns a dir of a spool that this process does not have open.
func LookInto(fsys vfs.FS, path string) *Dir {
	return &Dir{FS: fsys, Path: path, Boot: vfs.Boot()}
}
