// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Find returns the spool directories among root, its subdirectories, and their
// subdirectories, sorted. For a directory shared by several processes
// ([Config.Shared]) it returns the slots. It does not follow links, and skips
// directories that cannot be read, except root.
func Find(root string) ([]string, error) {
	if _, err := os.ReadDir(root); err != nil {
		return nil, fmt.Errorf("nib/spool: find: %w", err)
	}
	return find(root, 2), nil
}

// find looks into the directories of a spool, too: it may only look like one,
// for a stray file.
func find(dir string, deeper int) (found []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	if slices.ContainsFunc(entries, isOfSpool) {
		found = append(found, dir)
	}
	for _, e := range entries {
		switch {
		case e.IsDir() && isSlot(e.Name()):
			found = append(found, find(filepath.Join(dir, e.Name()), 0)...)
		case e.IsDir() && deeper > 0:
			found = append(found, find(filepath.Join(dir, e.Name()), deeper-1)...)
		}
	}
	return found
}

// isOfSpool reports whether only the directory of a spool has such an entry.
func isOfSpool(e fs.DirEntry) bool {
	_, ok := segmentNumber(e.Name())
	return (ok || e.Name() == "lock") && e.Type().IsRegular()
}
