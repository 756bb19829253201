// SPDX-License-Identifier: Apache-2.0

package store

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

const (
	SegmentExt = ".seg"
	MadeExt    = ".seg.tmp"
	MadeSuffix = ".tmp"
	BadExt     = ".bad"

	formerName = "origin" // of a file that v0.1.0 wrote; it has no meaning any more
)

// A Dir is the directory of a spool, locked.
type Dir struct {
	FS      vfs.FS
	Path    string
	hasPath atomic.Bool // the path is on disk
	hold

	Spool  uint64
	Gen    uint32
	Stream uint64 // of the records of this process
	Boot   uint64
	Last   uint64 // highest number of a segment, including quarantined ones
	Bad    int    // quarantined files

	rules
	tidyWork

	Unused  uint64 // count of numbers that the segments after the last used one could have used
	Unknown bool   // such a segment was quarantined: it may have been used
	Sweeper *sweeper

	Copies Copies
	Spares Spares
	notes
}

// rules say how a process uses a directory.
type rules struct {
	strict   bool  // files of other users are refused
	unmapped bool  // segments are written, not mapped
	minFree  int64 // bytes of the volume to keep free
}

// tidyWork is what List leaves to Tidy.
type tidyWork struct {
	unfinished []string // files that a dead process was making, or that are not used any more
	damaged    []string // files to be quarantined
	empty      []uint64 // segments that were never used
}

// OpenDir locks the directory for this process, creates it if necessary, and
// returns its segments, oldest first.
func OpenDir(path string, o *Options) (d *Dir, old []segment.Old, err error) {
	fsys := o.FS
	d = &Dir{
		FS: fsys, Path: path, Stream: NewID(), Boot: o.Boot,
		rules:  rules{strict: true, minFree: o.MinFree},
		Copies: Copies{owned: map[uint64]bool{}}, Sweeper: newSweeper(),
	}
	d.Copies.dir, d.Spares.dir = d, d
	if err := fsys.MkdirAll(path, 0o700); err != nil {
		return nil, nil, err
	}
	info, err := checkDir(fsys, path)
	if err != nil {
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
	d.id = info.ID
	f, hasFile := d.Lock.(vfs.File)
	d.unmapped = o.Written || !segment.CanMap || !hasFile || f.Fd() == ^uintptr(0)
	if hasFile {
		err = d.checkFile(f, "lock")
	}
	if err == nil {
		old, err = d.List()
	}
	if err != nil {
		_ = d.Unlock() // nothing was written
		return nil, nil, err
	}
	return d, old, nil
}

// checkDir rejects a directory that other users may write to.
func checkDir(fsys vfs.FS, path string) (info vfs.Info, err error) {
	if info, err = fsys.Lstat(path); err != nil {
		return info, err
	}
	if info.Mode&fs.ModeSymlink != 0 {
		return info, fmt.Errorf("%w: it is a link: use the path that it leads to", ErrUnsafe)
	}
	if !info.Mode.IsDir() || info.Mode.Perm()&0o022 != 0 && runtime.GOOS != "windows" {
		return info, fmt.Errorf("%w: %v", ErrUnsafe, info.Mode)
	}
	return info, CheckOwner(info, "it")
}

// CheckOwner rejects a file of another user, which that user may change at any
// time, whatever its mode is.
func CheckOwner(info vfs.Info, name string) error {
	if info.Foreign() {
		return fmt.Errorf("%w: %s belongs to user %d, and this process is user %d", ErrUnsafe, name,
			info.Owner, os.Geteuid())
	}
	return nil
}

// IsFile reports whether base is a regular file, as far as that is known. A
// spool does not make directories, links or pipes.
func (d *Dir) IsFile(base string) bool {
	info, _ := d.FS.Lstat(d.Name(base))
	return info.Mode.IsRegular() // a mode that is not known counts as regular
}

// checkFile is CheckOwner for an open file, in processes that deliver or write:
// inspecting a spool of another user is allowed.
func (r rules) checkFile(f vfs.File, name string) error {
	if !r.strict {
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

// List reads the headers of all segments. It leaves all changes to Tidy and
// QuarantineDamaged. A file that cannot be read is an error, not damage: a
// later attempt may be able to read it.
func (d *Dir) List() (old []segment.Old, err error) {
	names, err := d.FS.ReadDir(d.Path)
	if err != nil {
		return nil, err
	}
	for h := range d.Heads(names, d.Look) {
		for _, u := range h.Unread {
			if !h.OK || u.Op != SegmentName(h.Number) || !IsPageError(u.Err) {
				return nil, u.Err
			}
			d.note(readInstead, u.Err)
		}
		d.damaged = append(d.damaged, h.Bad...)
		d.Gen = max(d.Gen, h.Gen)
		switch {
		case h.Used:
			old = append(old, h.Old)
			d.Unused, d.Unknown = 0, false
		case h.OK:
			// In the same boot, the segment is unchanged since the process died.
			if h.Boot != d.Boot || d.Boot == 0 {
				d.Unused += uint64(h.Size / segment.RecordHead)
			}
			d.empty = append(d.empty, h.Number)
		case h.segment:
			d.Unused += segment.MaxSize / segment.RecordHead
			d.Unknown = true
		}
	}
	d.Gen++
	if d.Spool == 0 {
		d.Spool, d.Unused = NewID(), 0
	}
	return old, nil
}

// A Head is the header of a segment, or of its copy if the segment has none.
type Head struct {
	segment.Old // has only Number and Copied unless OK
	found
	OK     bool     // there is a header
	Used   bool     // the segment was activated
	Bad    []string // files without a valid header of this spool that no copy replaces
	Unread []Noted  // files that cannot be read now, or have a later version, in Op
}

// Files returns the names of the files of the segment.
func (h *Head) Files() (names []string) {
	if h.segment {
		names = append(names, SegmentName(h.Number))
	}
	if h.copy {
		names = append(names, CopyName(h.Number))
	}
	return names
}

// Heads reads the headers of the segments among names, oldest first, by look.
// It sets Spool. A copy is read only if its segment is not in use.
func (d *Dir) Heads(
	names []string, look func(name string) (g segment.Old, used bool, err error),
) iter.Seq[Head] {
	return func(yield func(Head) bool) {
		files := d.sortNames(names)
		for _, number := range slices.Sorted(maps.Keys(files)) {
			h := Head{found: files[number]}
			h.Number = number
			for _, name := range h.Files() {
				if h.Used {
					break
				}
				g, used, err := look(name)
				switch isCopy := name == CopyName(number); {
				case err != nil && !errors.Is(err, segment.ErrHeader):
					h.Unread = append(h.Unread, Noted{name, err})
				case err != nil || g.Number != number || d.Spool != 0 && g.Spool != d.Spool:
					h.Bad = append(h.Bad, name)
				case !isCopy || used && (!h.OK || g.Identity == h.Identity):
					h.Old, h.Used, h.OK = g, used, true
				}
			}
			if h.Copied = h.copy; h.OK {
				d.Spool = h.Spool
				h.Bad = slices.DeleteFunc(h.Bad, func(name string) bool {
					return name == SegmentName(number) // its copy replaces it
				})
			}
			if !yield(h) {
				return
			}
		}
	}
}

// sortNames finds the segments and copies among names, and notes the highest
// number, also of quarantined files: a number is never reused.
func (d *Dir) sortNames(names []string) map[uint64]found {
	files := map[uint64]found{}
	for _, name := range names {
		number, ext, isNumber := cutNumber(name)
		switch {
		case isNumber && (ext == MadeExt || ext == CopyExt+MadeSuffix):
			d.unfinished = append(d.unfinished, name)
		case name == formerName:
			d.unfinished = append(d.unfinished, name)
		case isNumber && (ext == SegmentExt || ext == CopyExt):
			f := files[number]
			if ext == SegmentExt {
				f.segment = true
			} else {
				f.copy = true
			}
			files[number] = f
			d.Last = max(d.Last, number)
		case isNumber && (ext == SegmentExt+BadExt || ext == CopyExt+BadExt):
			d.Last = max(d.Last, number)
		}
	}
	return files
}

// Look reads the header of a segment. The error is ErrHeader if the header was
// read and is damaged, and ErrVersion if it is of a later version. A valid
// segment that was not used yet is not kept.
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
	g, used, err = readHead(f, name)
	if number, _ := SegmentNumber(name); err != nil || g.Number != number {
		// The owner has deleted it or uses it for another segment.
		if gone, _ := d.isGone(f, name); gone {
			return segment.Old{}, false, fs.ErrNotExist
		}
	}
	return g, used, err
}

// readHead reads the header and the beginning of the first record.
func readHead(f vfs.File, name string) (g segment.Old, used bool, err error) {
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
	g.Identity, g.Streams = id, id.ReadStreams(b)
	if g.Start, used = segment.ReadStart(b, id.Seed()); used {
		return g, true, nil
	}
	var first [8]byte // number of the first record
	if _, err := f.ReadAt(first[:], segment.HeaderSize); err != nil && err != io.EOF {
		return g, false, err
	}
	for _, x := range append(b[64:88:88], first[:]...) {
		if x != 0 {
			return g, false, ErrStart // the segment had records, but their numbers are unknown
		}
	}
	return g, false, nil
}

var ErrStart = fmt.Errorf("%w: its start is damaged, or is being written", segment.ErrHeader)

// Tidy makes room: it removes the files that a dead process was making and
// segments that were never used. If a step fails, the next start repeats it.
func (d *Dir) Tidy() (err error) {
	note := func(e error) { err = errors.Join(err, Ignore(e, fs.ErrNotExist)) }
	for _, name := range d.unfinished {
		note(d.FS.Remove(d.Name(name)))
	}
	for _, number := range d.empty {
		note(d.Remove(number, nil))
	}
	return err
}

// QuarantineDamaged quarantines the damaged files that List has found, and sets
// Bad. It is the last step of a start: a later start does not find them, and so
// knows neither their number nor that they may have used numbers.
func (d *Dir) QuarantineDamaged() (err error) {
	d.Bad = len(d.damaged)
	for _, name := range d.damaged {
		err = errors.Join(err, Ignore(d.Quarantine(name, false), fs.ErrNotExist))
	}
	return err
}

// Quarantine renames a file so that no reader finds it. With keep, the file
// keeps its name as well until another file replaces it, where the file system
// has links.
func (d *Dir) Quarantine(name string, keep bool) error {
	path, bad := d.Name(name), d.Name(name+BadExt)
	if keep {
		err := d.FS.Link(path, bad)
		if err == nil || errors.Is(err, fs.ErrExist) { // it exists if a later step failed before
			return nil
		}
	}
	return d.FS.Rename(path, bad)
}

// SegmentNumber returns the number in the name of a segment or of its copy.
func SegmentNumber(name string) (uint64, bool) {
	number, ext, isNumber := cutNumber(name)
	return number, isNumber && (ext == SegmentExt || ext == CopyExt)
}

// cutNumber cuts a name into the number in front of the first dot, if it is
// one, and the rest.
func cutNumber(name string) (number uint64, ext string, isNumber bool) {
	digits, ext, _ := strings.Cut(name, ".")
	number, _ = strconv.ParseUint(digits, 16, 64)
	return number, "." + ext, hex(number) == digits
}

func IsSegmentName(name string) bool {
	_, ok := SegmentNumber(name)
	return ok
}

// NewID draws the id of a spool, or a stream. Its lower half, the label of
// records, is no negative length: in old bytes it must not look like a claim.
func NewID() (id uint64) {
	for b := make([]byte, 8); id == 0; {
		_, _ = rand.Read(b) // never fails
		id = binary.LittleEndian.Uint64(b) &^ (1 << 31)
	}
	return id
}

// Unlock releases the lock of the directory.
func (d *Dir) Unlock() error {
	d.lockMu.Lock()
	defer d.lockMu.Unlock()
	d.id = vfs.ID{} // nothing makes the lock file again
	return d.Lock.Close()
}

// LookInto returns a Dir of a spool that this process does not have open.
func LookInto(fsys vfs.FS, path string) *Dir {
	return &Dir{FS: fsys, Path: path, Boot: vfs.Boot()}
}
