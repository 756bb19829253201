// SPDX-License-Identifier: Apache-2.0

package spool

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
// that knows lines by spool and number takes the new lines of one for
// repetitions of the other's. So the file origin remembers where the directory
// was and under which id it delivers, and a copy takes a new id. The decision
// is described in docs/decisions/2026-11-22-copies-of-spool-directories.md.

const (
	originName    = "origin"
	originVersion = 1
	originSize    = 128
)

// An origin is what the file has.
type origin struct {
	spool uint64 // as in the headers of the segments
	id    uint64 // that records are delivered with
	site
}

// A site is where a directory is. What is not known is 0.
type site struct {
	inode, device uint64 // of the file origin
	volume        uint64 // see volume.id
	host          uint64 // a label of the machine and its name
	boot          uint64 // a label of the system's run
}

// isCopy reports whether a directory that was at one site and is at another one
// now is a copy, or may well be. mounted reports whether a device has a mounted
// file system.
func (was site) isCopy(now site, mounted func(device uint64) bool) bool {
	switch {
	case was.inode != now.inode || was.volume != now.volume:
		return true
	case was.boot == now.boot && now.boot != 0: // the same machine, if the device says nothing else
		return was.device != now.device && (was.host != now.host || mounted(was.device))
	}
	return was.host != now.host // as after a restart of the machine, which may number its devices anew
}

func putOrigin(b []byte, o *origin) {
	copy(b, segment.Magic)
	binary.LittleEndian.PutUint32(b[8:], originVersion)
	for i, x := range []uint64{o.spool, o.id, o.inode, o.device, o.volume, o.host, o.boot} {
		binary.LittleEndian.PutUint64(b[16+8*i:], x)
	}
	binary.LittleEndian.PutUint32(b[originSize-4:], segment.Checksum(b[:originSize-4]))
}

// readOrigin reads what putOrigin has written. ok is false if it is damaged.
func readOrigin(b []byte) (o origin, ok bool, err error) {
	if len(b) < originSize || string(b[:8]) != segment.Magic || binary.LittleEndian.Uint32(b[originSize-4:]) != segment.Checksum(b[:originSize-4]) {
		return origin{}, false, nil
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != originVersion {
		return origin{}, false, segment.VersionError{Found: v, Known: originVersion}
	}
	for i, x := range []*uint64{&o.spool, &o.id, &o.inode, &o.device, &o.volume, &o.host, &o.boot} {
		*x = binary.LittleEndian.Uint64(b[16+8*i:])
	}
	return o, true, nil
}

// identify finds out the id that records are delivered with, and stores it. A
// spool that was never used, and is only inspected, stays as it is.
func (s *Sink) identify(unused bool) error {
	id, stored, err := s.dir.whichID(&s.c)
	if err != nil {
		return err
	}
	if s.id = id; stored || unused && s.c.DeliverOnly {
		return nil
	}
	if err := s.dir.storeOrigin(&s.c, id); err != nil { // the disk may be full
		s.fault("write the file "+originName, err)
	}
	return nil
}

// whichID returns the id that records are delivered with, and whether it is
// stored. A file that cannot be read is an error: a later attempt may be able
// to read it.
func (d *dir) whichID(c *Config) (id uint64, stored bool, err error) {
	f, err := d.fs.Open(d.name(originName), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) { // a new spool, or one of an earlier version
		return d.spool, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer f.Close() // nothing was written to it
	if err := d.checkFile(f, originName); err != nil {
		return 0, false, err
	}
	was, err := loadOrigin(f)
	if err != nil {
		return 0, false, err
	}
	now, err := c.siteOf(f)
	if err != nil {
		return 0, false, err
	}
	if was.spool != d.spool || was.isCopy(now, c.mounted) {
		return newSpoolID(), false, nil
	}
	return was.id, was.site == now, nil
}

// loadOrigin reads the file. The origin is zero if it is damaged.
func loadOrigin(f io.ReaderAt) (o origin, err error) {
	b := make([]byte, originSize)
	n, err := f.ReadAt(b, 0)
	if err == nil || err == io.EOF {
		o, _, err = readOrigin(b[:n])
	}
	if err != nil {
		return origin{}, fmt.Errorf("%s: %w", originName, err)
	}
	return o, nil
}

// storeOrigin writes the file. If it is lost, or torn, with the power, nothing
// was delivered yet under an id that only it has.
func (d *dir) storeOrigin(c *Config, id uint64) error {
	f, err := d.fs.Open(d.name(originName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() // it is synced
	o := origin{spool: d.spool, id: id}
	if o.site, err = c.siteOf(f); err != nil {
		return err
	}
	b := make([]byte, originSize)
	putOrigin(b, &o)
	if _, err = f.WriteAt(b, 0); err == nil {
		err = f.Sync()
	}
	return err
}

// siteOf describes where a file is.
func (c *Config) siteOf(f vfs.File) (site, error) {
	info, err := f.Stat()
	return site{inode: info.ID.Inode, device: info.ID.Device, volume: c.volume.id, host: c.host, boot: c.boot}, err
}

// knownAs returns the id that the records of a spool are delivered with, as far
// as the file origin says, for inspection.
func (d *dir) knownAs(spool uint64) uint64 {
	f, err := d.fs.Open(d.name(originName), os.O_RDONLY, 0)
	if err != nil {
		return spool
	}
	defer f.Close()
	if o, _ := loadOrigin(f); o.spool == spool {
		return o.id
	}
	return spool
}

// hostLabel distinguishes machines, by the id of the system that is installed
// and by name.
func hostLabel() uint64 {
	id, _ := os.ReadFile("/etc/machine-id") // containers seldom have one, and other systems none
	name, _ := os.Hostname()
	return label(append(id, name...))
}

// isMounted reports whether a file system on device is mounted, as far as this
// process can see.
func isMounted(device uint64) bool {
	text, _ := os.ReadFile("/proc/self/mountinfo")
	number := fmt.Sprintf("%d:%d", device>>8&0xfff|device>>32&^0xfff, device&0xff|device>>12&^0xff&0xffffffff)
	for line := range bytes.Lines(text) {
		if fields := bytes.Fields(line); len(fields) > 2 && string(fields[2]) == number {
			return true
		}
	}
	return false
}

// label returns a number that stands for a text.
func label(text []byte) uint64 {
	return uint64(segment.Checksum(text))<<32 | uint64(crc32.ChecksumIEEE(text))
}
