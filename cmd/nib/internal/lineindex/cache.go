// SPDX-License-Identifier: Apache-2.0

package lineindex

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxKept is the number of indexes in a directory. The least recently used ones
// are deleted.
const maxKept = 200

const extension = ".nibidx"

// settleTime is the time for which a log must not have been modified for the
// time of its modification to identify its state.
const settleTime = 2 * time.Second

// DefaultDir returns the directory of the indexes of this user, or "" if there
// is none.
func DefaultDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "nib", "index")
}

// Open returns the index of a log in dir. It adds missing blocks, and stores
// the result. The name in dir is the checksum of the first bytes of the log, so
// that a renamed log keeps its index. An index that cannot be stored is still
// returned.
func Open(ctx context.Context, dir string, f *os.File) (*Index, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	x, path, err := find(dir, f, info)
	if err != nil || info.Size()-x.covered < spare {
		return x, err
	}
	if err := x.extend(ctx, f, info); err != nil {
		return nil, err
	}
	store(dir, path, x)
	return x, ctx.Err()
}

// spare is the number of bytes of a log that are read rather than added to its
// index.
const spare = 2 * BlockSize

// Find is Open without making or extending an index. It returns nil if there is
// none.
func Find(dir string, f *os.File) *Index {
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	x, _, err := find(dir, f, info)
	if err != nil || x.covered == 0 {
		return nil
	}
	return x
}

// find returns the index of a log, or an empty one, and its path in dir.
func find(dir string, f *os.File, info os.FileInfo) (x *Index, path string, err error) {
	size := info.Size()
	if size < least || !info.Mode().IsRegular() {
		return nil, "", fs.ErrInvalid
	}
	h := sha256.New()
	if n, err := io.Copy(h, io.NewSectionReader(f, 0, headSize)); err != nil || n < headSize {
		return nil, "", io.ErrUnexpectedEOF // the file was truncated
	}
	path = filepath.Join(dir, hex.EncodeToString(h.Sum(nil)[:16])+extension)
	if x = read(path); x != nil && x.fits(f, size, info.ModTime()) {
		_ = os.Chtimes(path, time.Now(), time.Now()) // marks the file as used
		return x, path, nil
	}
	return new(Index), path, nil
}

// headSize is the number of bytes of a log that determine the name of its
// index.
const headSize = 64 << 10

// maxSize is the size of the largest index that is read, for a log of some
// hundred GB.
const maxSize = 64 << 20

// read returns the index in a file, or nil.
func read(path string) *Index {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil || len(b) > maxSize {
		return nil
	}
	return decode(b)
}

// store replaces a stored index. Errors are ignored: without an index, the next
// reader makes it again. A reader sees the old file or the new one; a file that
// a power failure has truncated has a wrong checksum.
func store(dir, path string, x *Index) {
	if path == "" || os.MkdirAll(dir, 0o700) != nil {
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
		_ = os.Remove(f.Name()) // remove the temporary file
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
			_ = os.Remove(filepath.Join(dir, e.Name())) // a failure is retried
		}
	}
	slices.SortFunc(kept, func(a, b os.FileInfo) int {
		return cmp.Compare(b.ModTime().UnixNano(), a.ModTime().UnixNano())
	})
	for _, info := range kept[min(len(kept), maxKept):] {
		_ = os.Remove(filepath.Join(dir, info.Name())) // a failure is retried
	}
}
