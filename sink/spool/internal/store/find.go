// SPDX-License-Identifier: Apache-2.0

package store

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Find also searches the directories of a spool, because a stray file may make
// a directory look like one.
func Find(dir string, deeper int) (found []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	if slices.ContainsFunc(entries, isOfSpool) {
		found = append(found, dir)
	}
	for _, e := range entries {
		switch {
		case e.IsDir() && IsSlot(e.Name()):
			found = append(found, Find(filepath.Join(dir, e.Name()), 0)...)
		case e.IsDir() && deeper > 0:
			found = append(found, Find(filepath.Join(dir, e.Name()), deeper-1)...)
		}
	}
	return found
}

// isOfSpool reports whether e is an entry that only the directory of a spool
// has.
func isOfSpool(e fs.DirEntry) bool {
	_, ok := SegmentNumber(e.Name())
	return (ok || e.Name() == "lock") && e.Type().IsRegular()
}
