// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// The directory of a spool can be copied: with cp, in an image, as a snapshot
// of its volume. Two copies that deliver under one id lose lines: a destination
// that identifies lines by spool and number takes the new lines of one copy for
// repetitions of the other's. So the file origin records where the directory
// was and under which id it delivers, and a copy takes a new id. The decision
// is described in docs/decisions/2026-11-22-copies-of-spool-directories.md.

const (
	OriginName    = "origin"
	OriginVersion = 1
	OriginSize    = 128
)

// An Origin is the content of the file origin.
type Origin struct {
	Spool uint64 // id in the headers of the segments
	ID    uint64 // id under which records are delivered
	site
	First uint64 // lower numbers may have been used, in files that a start has removed or quarantined
}

// A site is the location of a directory. Unknown fields are 0.
type site struct {
	inode, device uint64 // inode and device of the file origin
	volume        uint64 // see Volume.ID
	Host          uint64 // a label of the machine and its name
	Boot          uint64 // a label of the boot
}

// isCopy reports whether a directory that was at one site and is now at another
// one is, or may be, a copy. mounted reports whether a device has a mounted
// file system.
func (was site) isCopy(now site, mounted func(device uint64) bool) bool {
	switch {
	case was.inode != now.inode || was.volume != now.volume:
		return true
	case was.Boot == now.Boot && now.Boot != 0: // the same machine, unless the device indicates otherwise
		return was.device != now.device && (was.Host != now.Host || mounted(was.device))
	}
	return was.Host != now.Host // a restart of the machine may renumber its devices
}

func PutOrigin(b []byte, o *Origin) {
	copy(b, segment.Magic)
	binary.LittleEndian.PutUint32(b[8:], OriginVersion)
	for i, x := range []uint64{o.Spool, o.ID, o.inode, o.device, o.volume, o.Host, o.Boot, o.First} {
		binary.LittleEndian.PutUint64(b[16+8*i:], x)
	}
	binary.LittleEndian.PutUint32(b[OriginSize-4:], segment.Checksum(b[:OriginSize-4]))
}

// ReadOrigin reads an Origin written by PutOrigin. ok is false if it is
// damaged.
func ReadOrigin(b []byte) (o Origin, ok bool, err error) {
	if len(b) < OriginSize || string(b[:8]) != segment.Magic || binary.LittleEndian.Uint32(b[OriginSize-4:]) != segment.Checksum(b[:OriginSize-4]) {
		return Origin{}, false, nil
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != OriginVersion {
		return Origin{}, false, segment.VersionError{Found: v, Known: OriginVersion}
	}
	for i, x := range []*uint64{&o.Spool, &o.ID, &o.inode, &o.device, &o.volume, &o.Host, &o.Boot, &o.First} {
		*x = binary.LittleEndian.Uint64(b[16+8*i:])
	}
	return o, true, nil
}

// WhichID returns the id that records are delivered with, the lowest number
// that may be used, and whether both are stored. A file that cannot be read is
// an error: a later attempt may be able to read it.
func (d *Dir) WhichID(c *Options) (id, first uint64, stored bool, err error) {
	f, err := d.FS.Open(d.Name(OriginName), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) { // a new spool, or one of an earlier version
		return d.Spool, 0, false, nil
	}
	if err != nil {
		return 0, 0, false, err
	}
	defer f.Close() // nothing was written
	if err := d.checkFile(f, OriginName); err != nil {
		return 0, 0, false, err
	}
	was, err := loadOrigin(f)
	if err != nil {
		return 0, 0, false, err
	}
	now, err := c.siteOf(f)
	if err != nil {
		return 0, 0, false, err
	}
	if was.Spool != d.Spool || was.isCopy(now, c.Mounted) {
		return NewSpoolID(), 0, false, nil // nothing was delivered under the stored id
	}
	return was.ID, was.First, was.site == now, nil
}

// OwnOrigin returns the content of the file, or the zero Origin without one.
func (d *Dir) OwnOrigin() (Origin, error) {
	f, err := d.FS.Open(d.Name(OriginName), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Origin{}, nil
	}
	if err != nil {
		return Origin{}, err
	}
	defer f.Close() // nothing was written
	return loadOrigin(f)
}

// loadOrigin reads the file. The origin is zero if it is damaged.
func loadOrigin(f io.ReaderAt) (o Origin, err error) {
	b := make([]byte, OriginSize)
	n, err := f.ReadAt(b, 0)
	if err == nil || err == io.EOF {
		o, _, err = ReadOrigin(b[:n])
	}
	if err != nil {
		return Origin{}, fmt.Errorf("%s: %w", OriginName, err)
	}
	return o, nil
}

// StoreOrigin writes the file. If a power failure loses or tears it, nothing
// was delivered yet under an id that is only in it.
func (d *Dir) StoreOrigin(c *Options, id, first uint64) error {
	f, err := d.FS.Open(d.Name(OriginName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() // already synced
	o := Origin{Spool: d.Spool, ID: id, First: first}
	if o.site, err = c.siteOf(f); err != nil {
		return err
	}
	b := make([]byte, OriginSize)
	PutOrigin(b, &o)
	if _, err = f.WriteAt(b, 0); err == nil {
		err = f.Sync()
	}
	return err
}

// siteOf describes where a file is.
func (c *Options) siteOf(f vfs.File) (site, error) {
	info, err := f.Stat()
	return site{inode: info.ID.Inode, device: info.ID.Device, volume: c.Volume.ID, Host: c.Host, Boot: c.Boot}, err
}

// KnownID returns the id that the records of a spool are delivered with,
// according to the file origin, for inspection.
func (d *Dir) KnownID(spool uint64) uint64 {
	if o, _ := d.OwnOrigin(); o.Spool == spool {
		return o.ID
	}
	return spool
}

// HostLabel distinguishes machines by the id of the installed system and the
// host name.
func HostLabel() uint64 {
	id, _ := os.ReadFile("/etc/machine-id") // containers rarely have one, and other systems have none
	name, _ := os.Hostname()
	return label(append(id, name...))
}

// IsMounted reports whether a file system on device is mounted, as far as this
// process can see.
func IsMounted(device uint64) bool {
	text, _ := os.ReadFile("/proc/self/mountinfo")
	number := fmt.Sprintf("%d:%d", device>>8&0xfff|device>>32&^0xfff, device&0xff|device>>12&^0xff&0xffffffff)
	for line := range bytes.Lines(text) {
		if fields := bytes.Fields(line); len(fields) > 2 && string(fields[2]) == number {
			return true
		}
	}
	return false
}

// label returns a hash of text.
func label(text []byte) uint64 {
	return uint64(segment.Checksum(text))<<32 | uint64(crc32.ChecksumIEEE(text))
}
