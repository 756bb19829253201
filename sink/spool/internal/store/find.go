// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/nib-log/nib/internal/vfs"
)

// Find also searches the directories of a spool, because a stray file may make
// a directory look like one. The error is about the directories that it cannot
// read.
func Find(dir string, deeper int) (found []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, withOwner(dir, err)
	}
	var errs []error
	add := func(name string, deeper int) {
		list, err := Find(filepath.Join(dir, name), deeper)
		found, errs = append(found, list...), append(errs, Ignore(err, fs.ErrNotExist))
	}
	if slices.ContainsFunc(entries, isOfSpool) {
		found = append(found, dir)
	}
	for _, e := range entries {
		switch {
		case e.IsDir() && IsSlot(e.Name()):
			add(e.Name(), 0)
		case e.IsDir() && deeper > 0:
			add(e.Name(), deeper-1)
		}
	}
	return found, errors.Join(errs...)
}

// withOwner adds to an error of permissions the user who has them.
func withOwner(dir string, err error) error {
	info, e := vfs.OS().Lstat(dir)
	if e != nil || !errors.Is(err, fs.ErrPermission) || !info.Foreign() {
		return err
	}
	return fmt.Errorf("%w: it belongs to user %d: run as that user, not as user %d", err,
		info.Owner, os.Geteuid())
}

// isOfSpool reports whether e is an entry that only the directory of a spool
// has.
func isOfSpool(e fs.DirEntry) bool {
	_, ok := SegmentNumber(e.Name())
	return (ok || e.Name() == "lock") && e.Type().IsRegular()
}
