// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nib-log/nib/sink/spool"
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
	split func(Selection) (now, later Source, err error)
	spool string   // directory of the spool, if it is one
	files []string // the files that Open reads, for a reader that skips blocks by an index
}

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
			list = append(list, Source{Name: "standard input", Live: true,
				Open: func(context.Context) (io.ReadCloser, error) {
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
		s.split = func(s Selection) (Source, Source, error) {
			return splitFile(paths, s)
		}
	}
	s.Open = func(context.Context) (io.ReadCloser, error) {
		return &chain{paths: paths}, nil
	}
	return s
}

// HasParts reports whether a file may have lines or records that are cut into
// parts, which its readers join.
func HasParts(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // only read
	return hasParts(f)
}

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
	return !isCompressed(f)
}

// New files and spools are looked for once in a number of looks at files. The
// number of them that are followed is limited.
const (
	morePolls  = 10
	maxWatched = 1000
)

// A watch finds the files and spools that patterns and directories have since
// the last look.
type watch struct {
	patterns  []string
	dirs      []string
	spools    map[string]bool
	youngest  map[string]rotation // of the files of each set that are followed
	seen      map[string]known    // the files of the last look, by path
	selection Selection
	followed  int
}

// Watch returns a function for Selection.More, which returns the files and
// spools that have come under the patterns and directories in args since [Find]
// found sources there. It returns nil if none can come.
func Watch(args []string, sources []Source, s Selection) func() []Source {
	w := &watch{
		spools: map[string]bool{}, youngest: map[string]rotation{}, seen: map[string]known{},
		selection: s,
	}
	for _, arg := range args {
		switch _, err := os.Stat(arg); {
		case isDir(arg):
			w.dirs = append(w.dirs, arg)
		case err != nil && isPattern(arg) && !strings.HasPrefix(arg, "kafka://"):
			w.patterns = append(w.patterns, arg)
			dirs, _ := filepath.Glob(filepath.Dir(arg)) // Find reports the error
			for _, dir := range dirs {
				s.events.Add(dir)
			}
			if found, _ := filepath.Glob(arg); len(found) == 0 {
				s.report("waiting for %s", arg)
			}
		}
	}
	if len(w.patterns)+len(w.dirs) == 0 {
		return nil
	}
	for _, source := range sources {
		w.spools[source.spool] = true
		for _, path := range source.files {
			w.seen[path] = knownAt(path)
			if r := rotationOf(path); w.isYounger(r) {
				w.youngest[r.set] = r
			}
		}
	}
	return w.more
}

// isPattern reports whether an argument that is no file may be a pattern.
func isPattern(arg string) bool { return strings.ContainsAny(arg, "*?[") }

// isYounger reports whether a file is younger than the files of its set that
// are followed.
func (w *watch) isYounger(r rotation) bool {
	of, ok := w.youngest[r.set]
	return !ok || r.compare(of) > 0
}

// look finds the files that match now, and returns the files of the last look.
func (w *watch) look() (before map[string]known) {
	before, w.seen = w.seen, map[string]known{}
	for _, pattern := range w.patterns {
		found, _ := filepath.Glob(pattern) // Find has reported the error
		for _, path := range found {
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			k := before[path]
			if k.info == nil || !os.SameFile(k.info, info) || len(k.head) < sampleLen {
				k = knownAt(path)
			}
			w.seen[path] = k
		}
	}
	return before
}

// more returns sources for what is new. A file that had another name at the
// last look is not new, nor is an older file of a set that is followed: they
// have been renamed.
func (w *watch) more() (list []Source) {
	before := w.look()
	sets := map[string]rotation{} // the youngest file of each set so far
	for path, k := range w.seen {
		r := rotationOf(path)
		if !w.isYounger(r) || packing(path) != "" || !isPlain(path) {
			continue
		}
		wasThere := func(b known) bool { return len(b.head) > 0 && b.is(k) }
		if slices.ContainsFunc(slices.Collect(maps.Values(before)), wasThere) {
			continue
		}
		if _, ok := sets[r.set]; !ok {
			sets[r.set] = w.youngest[r.set]
		}
		w.youngest[r.set] = r
	}
	for _, set := range slices.Sorted(maps.Keys(sets)) {
		path, old := w.youngest[set].path, sets[set]
		isOld := func(r rotation) bool { return old.set != "" && r.compare(old) <= 0 }
		open := func(ctx context.Context) (io.ReadCloser, error) {
			return newFollower(path, w.selection, isOld).source(nil, 0).Open(ctx)
		}
		list = append(list, Source{Name: path, Live: true, Open: open})
	}
	for _, dir := range w.dirs {
		found, _ := spool.Find(dir) // a directory may be gone and come again
		for _, dir := range found {
			if !w.spools[dir] {
				w.spools[dir] = true
				list = append(list, spoolSource(dir, true, place{}, place{}, w.selection))
			}
		}
	}
	if most := maxWatched - w.followed; len(list) > most {
		var size int64
		for _, s := range list[most:] {
			if info, err := os.Stat(s.Name); err == nil && info.Mode().IsRegular() {
				size += info.Size()
			}
		}
		w.selection.report("%d new files or spools with %s are not followed: %d are",
			len(list)-most, amount(size), maxWatched)
		list = list[:most]
	}
	w.followed += len(list)
	return list
}
