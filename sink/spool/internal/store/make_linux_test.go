// SPDX-License-Identifier: Apache-2.0

package store

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// TestFailedCreateClosesTheFile makes each step of making a mapped segment
// fail.
func TestFailedCreateClosesTheFile(t *testing.T) {
	for _, op := range []vfstest.Op{vfstest.OpPreallocate, vfstest.OpWrite, vfstest.OpSync, vfstest.OpRename, vfstest.OpSyncDir} {
		dir := filepath.Join(t.TempDir(), "spool")
		fsys := vfstest.NewFaulty(vfs.OS())
		d, _, err := OpenDir(dir, &Options{FS: fsys, Boot: 1})
		noError(t, err)
		heal := fsys.Fail(vfstest.Fault{Op: op, Err: syscall.EIO})
		for range 3 {
			if _, err := d.Create(1, segment.MinSize, noRest); err == nil {
				t.Fatalf("%s: the segment was made", op)
			}
		}
		heal()
		noError(t, d.Unlock())
		if open := openIn(t, dir); len(open) > 0 {
			t.Errorf("%s: files are open: %q", op, open)
		}
	}
}

// openIn returns the files in a directory that this process has open.
func openIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	noError(t, err)
	for _, e := range all {
		if name, _ := os.Readlink("/proc/self/fd/" + e.Name()); strings.HasPrefix(name, dir) {
			names = append(names, name)
		}
	}
	return names
}

// TestLinkToADirectoryIsRefused opens a spool through a symbolic link, which
// its owner may change: the error says so.
func TestLinkToADirectoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	noError(t, os.Mkdir(filepath.Join(dir, "spool"), 0o700), os.Symlink("spool", link))
	if _, _, err := OpenDir(link, &Options{FS: vfs.OS(), Boot: 1}); err == nil || !strings.Contains(err.Error(), "it is a link") {
		t.Errorf("got %v, want an error that names the link", err)
	}
}
