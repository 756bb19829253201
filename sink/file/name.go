// SPDX-License-Identifier: Apache-2.0

package file

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// stamp is the format of the time in the name of an old file, always UTC.
// Microseconds keep the names in the order of the rotations: a rotation takes
// longer than that, and processes take turns.
const stamp = "20060102T150405.000000Z"

// lumberjackStamp is the format of the time in the name of an old file of
// lumberjack.
const lumberjackStamp = "2006-01-02T15-04-05.000"

// aheadAtMost is the maximum time by which a name may be ahead of the clock:
// other machines on a network file system have other clocks, and the clock may
// be set back slightly.
const aheadAtMost = time.Minute

// tempExtension is the extension of the output of a compression in progress.
const tempExtension = ".tmp"

// A naming makes and parses the names of a log's old files:
//
//	app-20261121T103000.123456Z-0000.log      rotated at that time, the first one in that microsecond
//	app-20261121T103000.123456Z-0000.log.gz   compressed
//	app-20261121T103000.123456Z-0000.log.gz.tmp
//	app-2026-11-21T10-30-00.123.log           the same as lumberjack names it
//
// A name that it would not produce exactly belongs to another program.
type naming struct {
	stem, ext string   // "app" and ".log"
	packs     string   // extension of the Compressor, "" without one
	packed    []string // extensions of compressed files

	lumberjack bool // new names are lumberjack's, and old ones may be
}

func newNaming(base, packs string, lumberjack bool) naming {
	n := naming{ext: filepath.Ext(base), packs: packs, lumberjack: lumberjack}
	n.packed = []string{gzipExtension}
	n.stem = strings.TrimSuffix(base, n.ext)
	if n.stem == "" { // ".log" has no extension but begins with a dot
		n.stem, n.ext = base, ""
	}
	if packs != "" && packs != gzipExtension {
		n.packed = append(n.packed, packs)
	}
	return n
}

// A backup is an old file, described by its name.
type backup struct {
	name   string
	time   time.Time // time of the rotation, to the microsecond
	seq    int       // number among the rotations of that microsecond
	packed string    // its extension, if the file is compressed
	temp   bool      // output of a compression in progress
	size   int64     // size when the directory was read
}

// name returns the name of a file rotated at t. lumberjack has no numbers: the
// time counts on.
func (n *naming) name(t time.Time, seq int) string {
	if n.lumberjack {
		t = t.Add(time.Duration(seq) * time.Millisecond)
		return n.stem + "-" + t.UTC().Format(lumberjackStamp) + n.ext
	}
	return fmt.Sprintf("%s-%s-%04d%s", n.stem, t.UTC().Format(stamp), seq, n.ext)
}

// next returns the time and number to try first for a file rotated at t;
// last and seq named the file before.
func (n *naming) next(t, last time.Time, seq int) (time.Time, int) {
	if !n.lumberjack {
		if t = t.UTC().Truncate(time.Microsecond); t.Equal(last) {
			return t, seq + 1
		}
		return t, 0
	}
	t, last = t.UTC().Truncate(time.Millisecond), last.Add(time.Duration(seq)*time.Millisecond)
	if ahead := last.Sub(t); 0 <= ahead && ahead < aheadAtMost {
		return last, 1
	}
	return t, 0
}

// plain returns the name of b before it was compressed.
func (b backup) plain() string {
	name := b.name
	if b.temp {
		name = strings.TrimSuffix(name, tempExtension)
	}
	return strings.TrimSuffix(name, b.packed)
}

// parse parses a name, and reports whether it is one of this log's old files.
func (n *naming) parse(name string) (b backup, ok bool) {
	b.name = name
	// The log itself may be called app.gz or app.tmp.
	if b.time, b.seq, ok = n.parsePlain(name); ok {
		return b, true
	}
	rest, temp := strings.CutSuffix(name, tempExtension)
	for _, ext := range n.packed {
		if plain, cut := strings.CutSuffix(rest, ext); cut {
			b.packed, b.temp = ext, temp
			b.time, b.seq, ok = n.parsePlain(plain)
			break
		}
	}
	return b, ok
}

// parsePlain parses the name of a file that is not compressed.
func (n naming) parsePlain(name string) (t time.Time, seq int, ok bool) {
	rest := strings.TrimSuffix(strings.TrimPrefix(name, n.stem+"-"), n.ext)
	if n.lumberjack {
		if t, err := time.Parse(lumberjackStamp, rest); err == nil {
			return t, 0, n.name(t, 0) == name
		}
	}
	if len(rest) < len(stamp)+len("-0000") {
		return t, 0, false
	}
	t, _ = time.Parse(stamp, rest[:len(stamp)]) // after an error the name is another one
	seq, _ = strconv.Atoi(rest[len(stamp)+1:])
	n.lumberjack = false // in this copy, for name
	return t, seq, seq >= 0 && n.name(t, seq) == name
}

// compare orders backups from the newest to the oldest.
func (b backup) compare(o backup) int {
	if c := o.time.Compare(b.time); c != 0 {
		return c
	}
	if b.seq != o.seq {
		return o.seq - b.seq
	}
	return strings.Compare(b.name, o.name)
}

// compareAt orders backups from the newest to the oldest, as seen at now. A
// time in the future comes from a wrong clock. Such a file counts as older than
// all others: as the newest, it would be kept for years, and each new file
// would be deleted instead.
func (b backup) compareAt(o backup, now time.Time) int {
	ahead := func(b backup) int {
		if b.time.Sub(now) > aheadAtMost {
			return 1
		}
		return 0
	}
	if c := ahead(b) - ahead(o); c != 0 {
		return c
	}
	return b.compare(o)
}

// validExtension reports whether ext can be distinguished from the rest of a
// name.
func validExtension(ext string) bool {
	if len(ext) < 2 || ext[0] != '.' || ext == tempExtension {
		return false
	}
	for _, c := range []byte(ext[1:]) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9') {
			return false
		}
	}
	return true
}
