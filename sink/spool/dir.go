// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"fmt"
	"hash/crc32"
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
	"time"

	"github.com/nib-log/nib/internal/vfs"
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
	last  uint64 // number of the last segment
	bad   int    // files moved out of the way

	unused   uint64 // how many numbers the segments behind the last one that was used could have taken
	unknown  bool   // one of these was put aside: it was used, as far as anybody knows
	unmapped bool   // segments are written, not mapped: see twin
	minFree  int64  // bytes of the volume that are left to others
	sweeper  *sweeper

	mu      sync.Mutex
	owned   map[uint64]bool // segments whose copies are the copier's, and whether they are removed
	removed func()          // tells the copier
}

// An oldSegment is one that another process has left.
type oldSegment struct {
	identity
	start
	end     uint64 // number behind its last record
	copied  bool   // there is a copy
	damaged bool   // numbers up to end are in a segment that is gone
}

// openDir takes the directory for this process, makes it if need be, and finds
// the segments in it, oldest first.
func openDir(path string, c *Config) (d *dir, old []oldSegment, err error) {
	fsys := c.fs
	d = &dir{fs: fsys, path: path, boot: c.boot, minFree: c.MinFree, owned: map[uint64]bool{}, sweeper: newSweeper()}
	if err := fsys.MkdirAll(path, 0o700); err != nil {
		return nil, nil, err
	}
	info, err := fsys.Lstat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode.IsDir() || info.Mode.Perm()&0o022 != 0 && runtime.GOOS != "windows" {
		return nil, nil, fmt.Errorf("%w: %v", ErrUnsafe, info.Mode)
	}
	if _, err := fsys.Lstat(d.name("lock")); err == nil && c.volume.remote && !c.Adopt {
		return nil, nil, ErrAdopt
	}
	if err = d.take(); err != nil {
		return nil, nil, err
	}
	f, hasFile := d.lock.(vfs.File)
	d.unmapped = c.Access == Written || !mapped || !hasFile || f.Fd() == ^uintptr(0)
	if old, err = d.list(); err != nil {
		_ = d.lock.Close() // nothing was written to it
		return nil, nil, err
	}
	return d, old, nil
}

// glances is how often a lock that somebody else holds is tried again, a
// millisecond later: someone who looks whether it is free has it for microseconds, unless
// he is suspended meanwhile.
const glances = 100

// take locks the directory.
func (d *dir) take() (err error) {
	for range glances {
		if d.lock, err = lockFile(d.fs, d.name("lock")); !errors.Is(err, vfs.ErrLocked) {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return ErrInUse
}

func (d *dir) name(base string) string { return filepath.Join(d.path, base) }

func hex(number uint64) string { return fmt.Sprintf("%016x", number) }

func segmentName(number uint64) string { return hex(number) + segmentExt }

// list reads the headers of all segments. What is none is moved out of the way.
func (d *dir) list() (old []oldSegment, err error) {
	names, err := d.fs.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	type files struct{ segment, copy bool }
	found := map[uint64]files{}
	for _, name := range names {
		switch digits, ext, _ := strings.Cut(name, "."); "." + ext {
		case madeExt, copyExt + madeSuffix:
			_ = d.fs.Remove(d.name(name)) // if it stays, it is made over
		case segmentExt, copyExt:
			number, err := strconv.ParseUint(digits, 16, 64)
			if err != nil || hex(number) != digits {
				continue // not ours
			}
			f := found[number]
			f.segment, f.copy = f.segment || "."+ext == segmentExt, f.copy || "."+ext == copyExt
			found[number] = f
		}
	}
	for _, number := range slices.Sorted(maps.Keys(found)) {
		f := found[number]
		g, used, ok := d.lookAt(number, f.segment, f.copy)
		if !ok {
			continue
		}
		d.spool, d.gen, d.last = g.spool, max(d.gen, g.gen), number
		if used {
			old = append(old, g)
			d.unused, d.unknown = 0, false
			continue
		}
		d.unused += uint64(g.size / recordHead)
		_ = d.remove(number, nil) // an empty file is no harm
	}
	d.gen++
	if d.spool == 0 {
		d.spool = rand.Uint64() | 1
	}
	return old, nil
}

// lookAt reads the header of a segment, or that of its copy if the one of the segment is
// not there. What is neither is put aside.
func (d *dir) lookAt(number uint64, segment, kept bool) (g oldSegment, used, ok bool) {
	fits := func(g oldSegment, err error) bool {
		return err == nil && g.number == number && (d.spool == 0 || g.spool == d.spool)
	}
	if segment {
		var err error
		g, used, err = d.look(segmentName(number))
		ok = fits(g, err)
	}
	if kept && !(ok && used) {
		k, usedToo, err := d.look(copyName(number))
		switch {
		case !fits(k, err):
			d.putAside(copyName(number))
			kept = false
		case usedToo && (!ok || k.identity == g.identity):
			g, used, ok = k, true, true
		}
	}
	if segment && !ok {
		d.putAside(segmentName(number))
		d.unused += maxSegment / recordHead
		d.unknown = true
	}
	g.copied = kept
	return g, used, ok
}

// look reads the header of a segment. One that is sound and was not used yet is
// not kept.
func (d *dir) look(name string) (g oldSegment, used bool, err error) {
	f, err := d.fs.Open(d.name(name), os.O_RDONLY, 0)
	if err != nil {
		return g, false, err
	}
	defer f.Close()
	b := make([]byte, headerSize+8)
	if n, err := f.ReadAt(b, 0); err != nil && (err != io.EOF || n < 88) {
		return g, false, err
	}
	id, ok := readHeader(b)
	if !ok {
		return g, false, errHeader
	}
	g.identity = id
	if g.start, used = readStart(b, id.seed()); used {
		return g, true, nil
	}
	for _, x := range append(b[64:88:88], b[headerSize:]...) {
		if x != 0 {
			return g, false, errHeader // it had records, and nobody knows which
		}
	}
	return g, false, nil
}

var errHeader = errors.New("not the header of a segment")

// putAside keeps a file that nobody understands, under a name that nobody reads.
func (d *dir) putAside(name string) {
	d.bad++
	_ = d.fs.Rename(d.name(name), d.name(name+badExt)) // it is not read either way
}

// read returns what there is of a segment, with the help of its copy if that is needed.
func (d *dir) read(g *oldSegment) ([]byte, error) {
	b, err := d.bytes(segmentName(g.number), g.size)
	if g.copied && (err != nil || g.boot != d.boot || d.boot == 0 || int64(len(b)) < g.size || !isWhole(b, g)) {
		if b = d.complete(g, b); len(b) > 0 {
			err = nil
		}
	}
	return b, err
}

// bytes returns the first size bytes of a file, or as many as there are.
func (d *dir) bytes(name string, size int64) ([]byte, error) {
	f, err := d.fs.Open(d.name(name), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(info.Size, size)&^7)
	n, err := f.ReadAt(b, 0)
	if err == io.EOF {
		err = nil
	}
	if info, e := f.Stat(); e == nil && info.Links == 0 {
		err = fs.ErrNotExist // and somebody may be cutting it off
	}
	return b[:n&^7], err
}

// bootLabel tells the runs of the system apart, 0 if it cannot.
func bootLabel() uint64 {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return 0
	}
	return uint64(crc32.Checksum(text, castagnoli))<<32 | uint64(crc32.ChecksumIEEE(text))
}
