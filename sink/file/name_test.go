// SPDX-License-Identifier: Apache-2.0

package file

import (
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/nib-log/nib"
)

// packer returns a Compressor with an extension that writes nothing.
func packer(ext string) Compressor {
	return Compressor{Extension: ext, Compress: func(io.Writer, io.Reader) error { return nil }}
}

func TestNames(t *testing.T) {
	at := time.Date(2026, 11, 21, 11, 30, 0, 123_456_999, time.FixedZone("", 3600))
	for _, c := range []struct {
		base string
		seq  int
		want string
	}{
		{"app.log", 0, "app-20261121T103000.123456Z-0000.log"},
		{"app.log", 12345, "app-20261121T103000.123456Z-12345.log"},
		{"app", 7, "app-20261121T103000.123456Z-0007"},
		{".log", 7, ".log-20261121T103000.123456Z-0007"},
		{"app.audit.log", 7, "app.audit-20261121T103000.123456Z-0007.log"},
		{"app-1.log", 7, "app-1-20261121T103000.123456Z-0007.log"},
		{"app.gz", 7, "app-20261121T103000.123456Z-0007.gz"},
		{"app.tmp", 7, "app-20261121T103000.123456Z-0007.tmp"},
	} {
		n := newNaming(c.base, "", false)
		name := n.name(at, c.seq)
		wantText(t, c.base, name, c.want)
		b, ok := n.parse(name)
		if !ok || !b.time.Equal(at.Truncate(time.Microsecond)) || b.seq != c.seq {
			t.Errorf("%s: got %+v, %v, want it back", name, b, ok)
		}
		if _, ok := n.parse(c.base); ok {
			t.Errorf("%s counts as an old file of itself", c.base)
		}
	}
}

// foreign lists names that resemble app.log's old files.
var foreign = []string{
	"app.log", "app.audit.log", "app.log.1", "app.log.gz", "app.txt", "app-.log", "app-notes.log",
	"app-2026-11-21T10-30-00.123.log", // of another library
	"app.2026-11-21T10-30-00.log",
	"app-20261121T103000.123456Z.log", "app-20261121T103000.123456Z-.log",
	"app-20261121T103000.123456Z-000.log", "app-20261121T103000.123456Z-00000.log", "app-20261121T103000.123456Z--001.log",
	"app-20261121T103000.123456Z-+001.log", "app-20261121T103000.123456Z-0000.LOG", "app-20261121T103000.123456Z-0000.txt",
	"app-20261121T103000.123456Z-0000.log.bak", "app-20261121T103000.123456Z-0000.log.1", "app-20261121T103000.123456Z-0000.log.zst",
	"app-20261121T103000.123456Z-0000.log.gz.gz", "app-20261121T103000.123456Z-0000.log.tmp", "app-20261121T103000.123456Z-0000.log.gz.tmp.tmp",
	"app-20261121T103000.12345Z-0000.log", "app-20261121T103000,123456Z-0000.log", "app-20261321T103000.123456Z-0000.log", "app-20261121T253000.123456Z-0000.log",
	"app-20261121t103000.123456z-0000.log", "App-20261121T103000.123456Z-0000.log", "xapp-20261121T103000.123456Z-0000.log",
	"app-1-20261121T103000.123456Z-0000.log", "app.audit-20261121T103000.123456Z-0000.log", "-20261121T103000.123456Z-0000.log",
}

func TestForeignNames(t *testing.T) {
	n := newNaming("app.log", "", false)
	for _, name := range foreign {
		if b, ok := n.parse(name); ok {
			t.Errorf("%s counts as %+v", name, b)
		}
	}
}

func TestCompressedNames(t *testing.T) {
	n := newNaming("app.log", ".zst", false)
	for _, c := range []struct {
		name, packed string
		temp         bool
	}{
		{"app-20261121T103000.123456Z-0000.log", "", false},
		{"app-20261121T103000.123456Z-0000.log.gz", ".gz", false}, // of a Config that is no longer in use
		{"app-20261121T103000.123456Z-0000.log.zst", ".zst", false},
		{"app-20261121T103000.123456Z-0000.log.zst.tmp", ".zst", true},
	} {
		b, ok := n.parse(c.name)
		if !ok || b.packed != c.packed || b.temp != c.temp || b.name != c.name {
			t.Errorf("%s: got %+v, %v", c.name, b, ok)
		}
		wantText(t, c.name+", plain", b.plain(), "app-20261121T103000.123456Z-0000.log")
	}
	n = newNaming("app.gz", "", false)
	if b, ok := n.parse("app-20261121T103000.123456Z-0000.gz.gz.tmp"); !ok || b.packed != ".gz" || !b.temp {
		t.Errorf("a temporary file of app.gz: got %+v, %v", b, ok)
	}
}

func TestBackupsAreInOrder(t *testing.T) {
	n := newNaming("app.log", "", false)
	want := []string{
		"app-20261121T103000.123457Z-0000.log",
		"app-20261121T103000.123456Z-10000.log",
		"app-20261121T103000.123456Z-9999.log.gz",
		"app-20261121T103000.123456Z-0000.log",
		"app-20251231T235959.999999Z-0000.log",
	}
	var list []backup
	for _, i := range []int{3, 0, 4, 2, 1} {
		b, ok := n.parse(want[i])
		if !ok {
			t.Fatalf("%s is not recognized", want[i])
		}
		list = append(list, b)
	}
	slices.SortFunc(list, backup.compare)
	for i, b := range list {
		wantText(t, "order", b.name, want[i])
	}
}

func TestLumberjackNames(t *testing.T) {
	n := newNaming("app.log", "", true)
	at := time.Date(2026, 11, 21, 11, 30, 0, 123_999_999, time.FixedZone("", 3600))
	wantText(t, "name", n.name(n.next(at, time.Time{}, 0)), "app-2026-11-21T10-30-00.123.log")
	for _, name := range []string{
		"app-2026-11-21T10-30-00.123.log", "app-2026-11-21T10-30-00.123.log.gz",
		"app-2026-11-21T10-30-00.123.log.gz.tmp", "app-20261121T103000.123000Z-0000.log",
	} {
		if b, ok := n.parse(name); !ok || !b.time.Equal(at.Truncate(time.Millisecond)) {
			t.Errorf("%s: got %+v, %v", name, b, ok)
		}
	}
	for _, name := range []string{
		"app.log", "app-2026-11-21T10-30-00.log", "app-2026-11-21T10-30-00.1234.log",
		"app-2026-11-21T10-30-00,123.log", "app-2026-13-21T10-30-00.123.log",
		"app-2026-11-21T10-30-00.123.txt", "xapp-2026-11-21T10-30-00.123.log",
	} {
		if b, ok := n.parse(name); ok {
			t.Errorf("%s counts as %+v", name, b)
		}
	}
}

// TestRotationsOfOneMillisecond checks that files have lumberjack's names in
// the order of their lines, and that its own count among the old ones.
func TestRotationsOfOneMillisecond(t *testing.T) {
	m, clock := newMem(t)
	put(t, m, filepath.Join(logDir, "app-2001-01-02T03-04-05.678.log"), "old")
	put(t, m, filepath.Join(logDir, "app-2001-01-02T03-04-05.679.log.gz"), "old")
	s := openMem(t, m, clock, Config{MaxBackups: 5, LumberjackNames: true})
	cleaned(s)
	if got := memFiles(t, m); len(got) != 3 {
		t.Errorf("opened: got %q, want both old files and the log", got)
	}
	for i := range 12 {
		mustWrite(t, s, record(nib.LevelInfo, i, 100))
		must(t, s.Rotate())
		cleaned(s)
		clock.advance(time.Duration(i%2) * 700 * time.Microsecond)
	}
	must(t, s.Close())
	got := memFiles(t, m)
	want := []string{
		"app-2026-11-21T10-30-00.130.log", "app-2026-11-21T10-30-00.131.log",
		"app-2026-11-21T10-30-00.132.log", "app-2026-11-21T10-30-00.133.log",
		"app-2026-11-21T10-30-00.134.log", "app.log",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for i, name := range want[:5] {
		wantText(t, name, numbers(memText(t, m, filepath.Join(logDir, name))), strconv.Itoa(7+i))
	}
}

// FuzzParse checks that parse recognizes only names that name produces.
func FuzzParse(f *testing.F) {
	for _, name := range append(foreign, "app-20261121T103000.123456Z-0000.log.gz.tmp") {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, lumberjack := range []bool{false, true} {
			n := newNaming("app.log", "", lumberjack)
			b, ok := n.parse(name)
			if !ok {
				continue
			}
			n.lumberjack = lumberjack && name[len("app-2026")] == '-'
			again := n.name(b.time, b.seq) + b.packed
			if b.temp {
				again += tempExtension
			}
			if again != name {
				t.Errorf("%q is recognized as %+v, which is called %q", name, b, again)
			}
		}
	})
}

func TestExtensions(t *testing.T) {
	for ext, want := range map[string]bool{
		".a": true, ".z": true, ".A": true, ".Z": true, ".0": true, ".9": true, ".gz": true, ".Lz4": true,
		"": false, ".": false, "gz": false, tempExtension: false,
		".`": false, ".{": false, ".@": false, ".[": false, "./": false, ".:": false, ".g/z": false, ".g.z": false,
	} {
		if got := validExtension(ext); got != want {
			t.Errorf("%q: got %v, want %v", ext, got, want)
		}
	}
}
