// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

func TestCopiesAreDistinguishedFromMoves(t *testing.T) {
	at := site{inode: 1, device: 1, volume: 1, Host: 1, Boot: 1}
	for _, c := range []struct {
		name    string
		now     site
		mounted bool
		copied  bool
	}{
		{"another process", at, true, false},
		{"another container", site{1, 1, 1, 2, 1}, true, false},
		{"another container on another copy of the volume", site{1, 2, 1, 2, 1}, false, true},
		{"mounted again, with another device number", site{1, 2, 1, 1, 1}, false, false},
		{"a snapshot beside the volume", site{1, 2, 1, 1, 1}, true, true},
		{"a snapshot with an id of its own", site{1, 1, 2, 1, 1}, false, true},
		{"a copied file", site{2, 1, 1, 1, 1}, true, true},
		{"the machine was restarted", site{1, 2, 1, 1, 2}, true, false},
		{"another machine", site{1, 1, 1, 2, 2}, true, true},
	} {
		mounted := func(device uint64) bool { return device == at.device && c.mounted }
		if got := at.isCopy(c.now, mounted); got != c.copied {
			t.Errorf("%s: got copy: %v, want %v", c.name, got, c.copied)
		}
	}
	unknown := site{inode: 1, Host: 1} // no boot is known
	if unknown.isCopy(unknown, IsMounted) || !unknown.isCopy(site{inode: 1, Host: 2}, IsMounted) {
		t.Error("without the run of the system, the host decides")
	}
}

func TestMountedDevices(t *testing.T) {
	if _, err := os.Stat("/proc/self/mountinfo"); err != nil {
		t.Skip(err)
	}
	f, err := vfs.OS().Open("/proc/self/mountinfo", os.O_RDONLY, 0)
	noError(t, err)
	defer f.Close()
	info, err := f.Stat()
	noError(t, err)
	if !IsMounted(info.ID.Device) {
		t.Errorf("device %#x has /proc, and is not mounted", info.ID.Device)
	}
	if IsMounted(0xfff<<8 | 0xff) {
		t.Error("a device is mounted that there is none of")
	}
}

// TestOnlyWholeOriginsAreRead flips each bit of the file, truncates it, and
// reads one of another spool.
func TestOnlyWholeOriginsAreRead(t *testing.T) {
	whole := make([]byte, OriginSize)
	want := Origin{Spool: 5, ID: 6, site: site{inode: 7, device: 8, volume: 9, Host: 10, Boot: 11}, First: 12}
	PutOrigin(whole, &want)
	if got, ok, err := ReadOrigin(whole); got != want || !ok || err != nil {
		t.Errorf("got %+v, %v, %v, want %+v", got, ok, err, want)
	}
	for bit := range 8 * OriginSize {
		b := bytes.Clone(whole)
		b[bit/8] ^= 1 << (bit % 8)
		if got, ok, err := ReadOrigin(b); ok || err != nil || got != (Origin{}) {
			t.Fatalf("bit %d of the file is not checked: got %+v, %v", bit, got, err)
		}
	}
	for n := range whole {
		if _, ok, err := ReadOrigin(whole[:n]); ok || err != nil {
			t.Fatalf("%d bytes are taken for the file", n)
		}
	}
	other := bytes.Clone(whole)
	other[0]++
	binary.LittleEndian.PutUint32(other[OriginSize-4:], segment.Checksum(other[:OriginSize-4]))
	if _, ok, _ := ReadOrigin(other); ok {
		t.Error("another format is taken for the file")
	}
	d := &Dir{FS: vfs.OS(), Path: t.TempDir()}
	noError(t, os.WriteFile(filepath.Join(d.Path, OriginName), whole, 0o600))
	if ours, others := d.KnownID(5), d.KnownID(4); ours != 6 || others != 4 {
		t.Errorf("spool 5 is known as %d, want 6; and spool 4 as %d, want 4", ours, others)
	}
}
