// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Source is a stream of lines. A rotated set of files is one Source.
type Source struct {
	Name string
	// Open begins to read at the first line.
	Open func(ctx context.Context) (io.ReadCloser, error)
	// Path is the last file of the source if it is a plain file, which can be
	// read from its end and followed.
	Path string
	// Live is set if the reader of Open continues with new lines when asked
	// to follow.
	Live bool

	// split returns a source that ends where this one ends now, and another
	// that continues there and never ends. It is nil if nothing can be added.
	split func(reportFunc) (now, later Source, err error)
	spool string   // directory of the spool, if it is one
	files []string // the files that Open reads, for a reader that skips blocks by an index
}

// A reportFunc reports what the reader of a live source may have lost. It may
// be nil.
type reportFunc = func(format string, args ...any)

// Find returns the sources that command-line arguments denote: "-" for standard
// input, files, patterns of path.Match, spool directories and
// kafka://broker:9092/topic. Files of a rotated set become one source. Follow
// makes sources that never end where that is possible.
func Find(args []string, stdin io.Reader, follow bool, now time.Time) (list []Source, err error) {
	var files []string
	var errs []error
	for _, arg := range args {
		switch {
		case arg == "-":
			list = append(list, Source{Name: "standard input", Live: true, Open: func(context.Context) (io.ReadCloser, error) {
				return decompress(io.NopCloser(stdin))
			}})
		case strings.HasPrefix(arg, "kafka://"):
			sources, err := kafkaSources(arg, follow, now)
			list = append(list, sources...)
			errs = append(errs, err)
		case isDir(arg):
			sources, err := spoolSources(arg, follow)
			list = append(list, sources...)
			errs = append(errs, err)
		default:
			found, err := Expand(arg)
			if follow && errors.Is(err, fs.ErrNotExist) {
				err = nil // Tail waits for it
				if !isPattern(arg) {
					found = []string{arg}
				}
			}
			files = append(files, found...)
			errs = append(errs, err)
		}
	}
	for _, set := range rotatedSets(files) {
		list = append(list, fileSource(set))
	}
	return list, errors.Join(errs...)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Expand returns the files that a name or a pattern denotes. The shell expands
// patterns as well, unless they are in quotes.
func Expand(arg string) ([]string, error) {
	_, err := os.Stat(arg)
	if err == nil {
		return []string{arg}, nil
	}
	if !isPattern(arg) {
		return nil, err
	}
	found, bad := filepath.Glob(arg)
	if bad != nil {
		return nil, fmt.Errorf("%s: %w", arg, bad)
	}
	found = slices.DeleteFunc(found, isDir)
	if len(found) == 0 {
		return nil, err
	}
	return found, nil
}

// fileSource reads files one after the other.
func fileSource(paths []string) Source {
	last := paths[len(paths)-1]
	s := Source{Name: last, files: paths}
	if packing(last) == "" && isPlain(last) {
		s.Path = last
		s.split = func(report reportFunc) (Source, Source, error) {
			return splitFile(paths, report)
		}
	}
	s.Open = func(context.Context) (io.ReadCloser, error) {
		return &chain{paths: paths}, nil
	}
	return s
}

// HasParts reports whether a file may have lines that are cut into parts, which
// its readers join.
func HasParts(path string) bool { return isPart(knownAt(path).head) }

// isPlain reports whether the lines of a file can be read from any offset,
// because it is neither a pipe nor compressed. A file that cannot be read now
// is opened later, which returns the error.
func isPlain(path string) bool {
	info, err := os.Stat(path) // opening a pipe would wait for its writer
	if err != nil || !info.Mode().IsRegular() {
		return err != nil
	}
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	defer f.Close() // only read
	var first [longestMagic]byte
	n, _ := f.ReadAt(first[:], 0) // a short file is plain
	return formatOf(first[:n]) == nil
}
