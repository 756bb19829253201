// SPDX-License-Identifier: Apache-2.0

package lineindex

import (
	"cmp"
	"context"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxKept is the number of indexes in a directory. Those that were not used for
// longest are deleted.
const maxKept = 200

const extension = ".nibidx"

// DefaultDir returns the directory of the indexes of this user, or "" if there
// is none.
func DefaultDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "nib", "index")
}

// Open returns the index of a log. It takes what dir has of it, adds what is
// missing, and stores the result there; dir may be "". Its name is the sum of
// the first bytes of the log, so that a log that is renamed keeps its index. An
// index that cannot be stored is returned nevertheless.
func Open(ctx context.Context, dir string, f *os.File) (*Index, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < Least || !info.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	head, err := sumOf(f, 0, headSize)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, hex.EncodeToString(head[:16])+extension)
	x := new(Index)
	if stored := load(dir, path); stored != nil && stored.fits(f, info) {
		if x = stored; info.Size()-x.covered < blockSize {
			_ = os.Chtimes(path, time.Now(), time.Now()) // it was used
			return x, nil
		}
	}
	if err := x.extend(ctx, f, info); err != nil {
		return nil, err
	}
	store(dir, path, x)
	return x, ctx.Err()
}

// load returns a stored index, or nil.
func load(dir, path string) *Index {
	if dir == "" {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return decode(b)
}

// store replaces a stored index. Errors are ignored: without an index, the next
// reader makes it again. A reader sees the old file or the new one; one that a
// power failure has left in part has another sum.
func store(dir, path string, x *Index) {
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(dir, "*.tmp")
	if err != nil {
		return
	}
	_, err = f.Write(x.encode())
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // a temporary file
		return
	}
	prune(dir)
}

// prune deletes the oldest indexes, and temporary files of killed processes.
func prune(dir string) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var kept []os.FileInfo
	for _, e := range list {
		info, err := e.Info()
		switch {
		case err != nil:
		case strings.HasSuffix(e.Name(), extension):
			kept = append(kept, info)
		case strings.HasSuffix(e.Name(), ".tmp") && time.Since(info.ModTime()) > time.Hour:
			_ = os.Remove(filepath.Join(dir, e.Name())) // it is tried again
		}
	}
	slices.SortFunc(kept, func(a, b os.FileInfo) int { return cmp.Compare(b.ModTime().UnixNano(), a.ModTime().UnixNano()) })
	for _, info := range kept[min(len(kept), maxKept):] {
		_ = os.Remove(filepath.Join(dir, info.Name())) // it is tried again
	}
}
