// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

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
	lock vfs.File

	spool uint64
	gen   uint32
	boot  uint64
	last  uint64 // number of the last segment
	bad   int    // files moved out of the way

	unmapped bool // segments are written, not mapped: see twin
}

// An oldSegment is one that another process has left.
type oldSegment struct {
	identity
	start
	end     uint64 // number behind its last record
	damaged bool   // numbers up to end are in a segment that is gone
}

// openDir takes the directory for this process, makes it if need be, and finds
// the segments in it, oldest first.
func openDir(fsys vfs.FS, path string, access Access) (d *dir, old []oldSegment, err error) {
	d = &dir{fs: fsys, path: path, boot: bootLabel()}
	if err := fsys.MkdirAll(path, 0o700); err != nil {
		return nil, nil, err
	}
	info, err := fsys.Lstat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode.IsDir() || info.Mode.Perm()&0o022 != 0 {
		return nil, nil, fmt.Errorf("%w: %v", ErrUnsafe, info.Mode)
	}
	d.lock, err = fsys.Open(d.name("lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, err
	}
	err = d.lock.Lock(vfs.Exclusive)
	if err == nil {
		d.unmapped = access == Written || !mapped || d.lock.Fd() == ^uintptr(0)
		old, err = d.list()
	}
	if errors.Is(err, vfs.ErrLocked) {
		err = ErrInUse
	}
	if err != nil {
		_ = d.lock.Close() // nothing was written to it
		return nil, nil, err
	}
	return d, old, nil
}

func (d *dir) name(base string) string { return filepath.Join(d.path, base) }

func segmentName(number uint64) string { return fmt.Sprintf("%016x", number) + segmentExt }

// list reads the headers of all segments. What is none is moved out of the way.
func (d *dir) list() (old []oldSegment, err error) {
	names, err := d.fs.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	for _, name := range names { // sorted, so by number
		if strings.HasSuffix(name, madeExt) {
			_ = d.fs.Remove(d.name(name)) // if it stays, it is made over
			continue
		}
		digits, ok := strings.CutSuffix(name, segmentExt)
		number, err := strconv.ParseUint(digits, 16, 64)
		if !ok || err != nil || segmentName(number) != name {
			continue // not ours
		}
		g, used, err := d.look(name)
		if err != nil || g.number != number || d.spool != 0 && g.spool != d.spool {
			d.putAside(name)
			continue
		}
		d.spool, d.gen, d.last = g.spool, max(d.gen, g.gen), number
		if used {
			old = append(old, g)
		} else {
			_ = d.fs.Remove(d.name(name)) // an empty file is no harm
		}
	}
	d.gen++
	if d.spool == 0 {
		d.spool = rand.Uint64() | 1
	}
	return old, nil
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

// read returns what there is of a segment.
func (d *dir) read(g *oldSegment) ([]byte, error) {
	f, err := d.fs.Open(d.name(segmentName(g.number)), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(info.Size, g.size)&^7)
	n, err := f.ReadAt(b, 0)
	if err == io.EOF {
		err = nil
	}
	return b[:n&^7], err
}

func (d *dir) remove(number uint64) error {
	err := d.fs.Remove(d.name(segmentName(number)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// bootLabel tells the runs of the system apart, 0 if it cannot.
func bootLabel() uint64 {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return 0
	}
	return uint64(crc32.Checksum(text, castagnoli))<<32 | uint64(crc32.ChecksumIEEE(text))
}
