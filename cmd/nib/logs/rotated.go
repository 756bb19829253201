// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// packings are the extensions of compressed files.
var packings = []string{".gz", ".zst", ".bz2", ".xz", ".lz4"}

// packing returns the extension of a compressed file, or "".
func packing(path string) string {
	if ext := filepath.Ext(path); slices.Contains(packings, ext) {
		return ext
	}
	return ""
}

var (
	// app-20261121T103000.123456Z-0000.log of sink/file, and dates as
	// logrotate, lumberjack and others put them before or after the
	// extension.
	stamped = regexp.MustCompile(
		`^(.+?)[-._](\d{4}-?\d{2}-?\d{2}(?:[T_-]?\d{2}[-:.]?\d{2}[-:.]?\d{2}(?:[.,]\d+)?Z?)?(?:-\d+)?)(\.[A-Za-z]+)?$`)
	// app.log.1 of logrotate
	numbered = regexp.MustCompile(`^(.+)\.(\d{1,4})$`)
)

// A rotation is the place of a file in a rotated set, according to its name.
type rotation struct {
	path  string
	set   string // the same for all files of a set
	stamp string // "" for the file that is being written
	age   int    // 1 more than the number of a numbered file
}

func rotationOf(path string) rotation {
	dir, base := filepath.Split(strings.TrimSuffix(path, packing(path)))
	if m := stamped.FindStringSubmatch(base); m != nil {
		return rotation{path: path, set: dir + m[1] + m[3], stamp: m[2]}
	}
	if m := numbered.FindStringSubmatch(base); m != nil {
		age, _ := strconv.Atoi(m[2]) // at most four digits
		return rotation{path: path, set: dir + m[1], age: age + 1}
	}
	r := rotation{path: path, set: dir + base}
	if packing(path) != "" {
		r.age = 1 // nothing is added to it
	}
	return r
}

// compare orders files by their lines, the oldest first.
func (r rotation) compare(q rotation) int {
	switch {
	case (r.stamp == "") == (q.stamp == ""):
		return cmp.Or(cmp.Compare(r.stamp, q.stamp), cmp.Compare(q.age, r.age))
	case r.stamp == "":
		return 1
	}
	return -1
}

// rotatedSets groups files by the log that they belong to, and sorts each group
// in the order of its lines. A file that is given twice is read once, and so is
// a file that is there packed and unpacked, as its first bytes show: what packs
// a file deletes it last, or has died before.
func rotatedSets(paths []string) (sets [][]string) {
	var names []string
	members := map[string][]rotation{}
	plain, seen := map[string]bool{}, map[string]bool{}
	for _, path := range paths {
		plain[filepath.Clean(path)] = packing(path) == ""
	}
	for _, path := range paths {
		clean := filepath.Clean(path)
		unpacked := strings.TrimSuffix(clean, packing(clean))
		if seen[clean] || unpacked != clean && plain[unpacked] &&
			bytes.HasPrefix(knownAt(unpacked).head, packedHead(path)) {
			continue
		}
		seen[clean] = true
		r := rotationOf(path)
		if members[r.set] == nil {
			names = append(names, r.set)
		}
		members[r.set] = append(members[r.set], r)
	}
	for _, name := range names {
		slices.SortStableFunc(members[name], rotation.compare)
		var set []string
		for _, r := range members[name] {
			set = append(set, r.path)
		}
		sets = append(sets, set)
	}
	return sets
}
