// SPDX-License-Identifier: Apache-2.0

package store

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Find looks into the directories of a spool, too: it may only look like one,
// for a stray file.
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

// isOfSpool reports whether only the directory of a spool has such an entry.
func isOfSpool(e fs.DirEntry) bool {
	_, ok := SegmentNumber(e.Name())
	return (ok || e.Name() == "lock") && e.Type().IsRegular()
}
