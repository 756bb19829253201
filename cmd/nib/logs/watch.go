// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nib-log/nib/sink/spool"
)

// watchPoll is the interval at which new files and spools are looked for, and
// maxWatched the number of them that are followed.
const (
	watchPoll  = time.Second
	maxWatched = 1000
)

// A watch finds the files and spools that patterns and directories have since
// the last look.
type watch struct {
	patterns []string
	dirs     []string
	spools   map[string]bool
	youngest map[string]rotation // of the files of each set that are followed
	seen     map[string]known    // the files of the last look, by path
	report   func(format string, args ...any)
	followed int
}

// Watch returns a function for Selection.More, which returns the files and
// spools that have come under the patterns and directories in args since [Find]
// found sources there. It returns nil if none can come.
func Watch(args []string, sources []Source, s Selection) func() []Source {
	w := &watch{
		spools: map[string]bool{}, youngest: map[string]rotation{}, seen: map[string]known{},
		report: s.report,
	}
	for _, arg := range args {
		switch _, err := os.Stat(arg); {
		case isDir(arg):
			w.dirs = append(w.dirs, arg)
		case err != nil && isPattern(arg) && !strings.HasPrefix(arg, "kafka://"):
			w.patterns = append(w.patterns, arg)
			if found, _ := filepath.Glob(arg); len(found) == 0 { // Find reports the error
				w.report("waiting for %s", arg)
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
		list = append(list, followNew(w.youngest[set].path, sets[set], w.report))
	}
	for _, dir := range w.dirs {
		found, _ := spool.Find(dir) // a directory may be gone and come again
		for _, dir := range found {
			if !w.spools[dir] {
				w.spools[dir] = true
				list = append(list, spoolSource(dir, true, place{}, place{}))
			}
		}
	}
	if most := maxWatched - w.followed; len(list) > most {
		w.report("%d new files or spools are not followed: %d are", len(list)-most, maxWatched)
		list = list[:most]
	}
	w.followed += len(list)
	return list
}
