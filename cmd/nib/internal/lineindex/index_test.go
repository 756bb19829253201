// SPDX-License-Identifier: Apache-2.0

package lineindex

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/logread"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/seed"
)

// logSize is the size of logs that are worth an index here.
const logSize = 2 << 20

func TestMain(m *testing.M) {
	least = logSize
	os.Exit(m.Run())
}

var begin = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

// text returns a log of at least n bytes: lines of several loggers, out of
// order now and then, and others.
func text(r *rand.Rand, n int) []byte {
	var b bytes.Buffer
	at := begin
	for b.Len() < n {
		at = at.Add(time.Duration(r.IntN(40)) * time.Millisecond)
		t := at
		if r.IntN(50) == 0 {
			t = t.Add(-time.Duration(r.IntN(5000)) * time.Millisecond)
		}
		level := []string{"debug", "info", "info", "warn", "error"}[r.IntN(5)]
		bare := b.Len()>>18%8 == 1 && r.IntN(20) == 0
		switch pad := strings.Repeat("x", r.IntN(400)); r.IntN(20) {
		case 3, 4, 5:
			if bare {
				fmt.Fprintf(&b, `{"level":%q,"message":"no time"}`+"\n{\"a\":1}\n", level)
				continue
			}
			fallthrough
		case 6, 7, 8:
			if bare {
				fmt.Fprintf(&b, `{"time":%q,"message":"no level"}`+"\n", t.Format(time.RFC3339Nano))
				continue
			}
			fallthrough
		default:
			fmt.Fprintf(&b, `{"time":%q,"level":%q,"message":%q}`+"\n", t.Format(time.RFC3339Nano), level, pad)
		case 0:
			fmt.Fprintf(&b, "goroutine %d [running]:\n\n", r.IntN(100))
		case 1:
			fmt.Fprintf(&b, "time=%s level=%s msg=%q\n", t.Format(time.RFC3339Nano), level, pad)
		case 2:
			fmt.Fprintf(&b, `{"level":%q,"ts":%d.%03d,"msg":%q}`+"\n", level, t.Unix(), t.Nanosecond()/1e6, pad)
		}
	}
	return b.Bytes()
}

func file(t *testing.T, b []byte) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app.log")
	write(t, path, b)
	f, err := os.Open(path)
	must.Succeed(t, err)
	t.Cleanup(func() { _ = f.Close() }) // it was only read
	return f
}

// write writes a file that was modified an hour ago.
func write(t *testing.T, path string, b []byte) {
	t.Helper()
	err := os.WriteFile(path, b, 0o600)
	if at := time.Now().Add(-time.Hour); err == nil {
		err = os.Chtimes(path, at, at)
	}
	must.Succeed(t, err)
}

func index(t *testing.T, f *os.File) *Index {
	t.Helper()
	info, err := f.Stat()
	must.Succeed(t, err)
	x := new(Index)
	must.Succeed(t, x.extend(t.Context(), f, info))
	return x
}

// in reports whether a window has a line, and counts it if not. Lines of a log
// that only lack a time or a level count as lines without a time.
func in(w Window, l *logread.Line, s *Skipped) bool {
	at, ok := l.Time()
	level, hasLevel := l.Level()
	isEarly := ok && !w.Since.IsZero() && at.Before(w.Since)
	isLate := ok && !w.Until.IsZero() && !at.Before(w.Until)
	isLow := hasLevel && w.HasLevel && level < w.Least
	isInside := !isEarly && !isLate && !isLow
	if isInside && ok && (hasLevel || !w.HasLevel) {
		return true
	}
	s.Lines++
	if l.IsForeign() {
		s.Foreign++
	} else if isInside && len(l.Bytes()) > 0 {
		s.NoTime++
	}
	return false
}

// selected returns the lines of b that a window has, and counts the others.
func selected(w Window, b []byte) (out []byte, s Skipped) {
	var l logread.Line
	for len(b) > 0 {
		n := logread.LineLen(b)
		if l.Reset(b[:n]); in(w, &l, &s) {
			out = append(out, b[:n]...)
		}
		b = b[n:]
	}
	return out, s
}

// check compares the lines that a reader finds with an index and without.
func check(t *testing.T, x *Index, w Window, b []byte) {
	t.Helper()
	want, wantSkipped := selected(w, b)
	ranges, skipped := x.Ranges(w)
	var parts []byte
	for _, r := range ranges {
		parts = append(parts, b[r.From:min(r.To, int64(len(b)))]...)
	}
	got, rest := selected(w, parts)
	if !bytes.Equal(got, want) {
		t.Errorf("%v to %v, level %v: got %d bytes, want %d", w.Since, w.Until, w.Least, len(got), len(want))
	}
	rest.Lines += skipped.Lines
	rest.Foreign += skipped.Foreign
	rest.NoTime += skipped.NoTime
	if w.HasLevel && !w.Exact {
		rest.NoTime = wantSkipped.NoTime // nothing reports them
	}
	if rest != wantSkipped {
		t.Errorf("%+v: got %+v left out, want %+v", w, rest, wantSkipped)
	}
}

func windows(r *rand.Rand, n int) (list []Window) {
	for range n {
		at := func() time.Time { return begin.Add(time.Duration(r.IntN(900_000)-60_000) * time.Millisecond) }
		w := Window{Since: at()}
		switch r.IntN(4) {
		case 0:
			w.Until = w.Since.Add(time.Duration(r.IntN(10_000)) * time.Millisecond)
		case 1:
			w = Window{Until: w.Since}
		case 2:
			w.Until = at()
		}
		if r.IntN(3) == 0 {
			w.Least, w.HasLevel = []nib.Level{nib.LevelDebug, nib.LevelWarn, nib.LevelError + 1, nib.LevelFatal}[r.IntN(4)], true
		}
		w.Exact = r.IntN(2) == 0
		list = append(list, w)
	}
	return list
}

func TestALogReadsTheSameWithAnIndex(t *testing.T) {
	r, n := rand.New(rand.NewPCG(seed.Of(t), 7)), seed.Times(200, 40, 8)
	for _, size := range []int{100 << 10, 3 << 20, 9 << 20} {
		b := text(r, size)
		x := index(t, file(t, b))
		if len(x.blocks) < size/BlockSize || x.covered != int64(len(b)) {
			t.Fatalf("got %d blocks of %d bytes, of %d", len(x.blocks), x.covered, len(b))
		}
		left := int64(0)
		for _, w := range windows(r, n) {
			check(t, x, w, b)
			for ranges, _ := x.Ranges(w); len(ranges) > 0; ranges = ranges[1:] {
				left += min(ranges[0].To, int64(len(b))) - ranges[0].From
			}
		}
		// A few windows may all be large.
		if size > 3<<20 && n >= 40 && left > int64(n*3/4*len(b)) {
			t.Errorf("%d bytes of %d are read in %d windows", left, len(b), n)
		}
	}
}

func TestTheEdgesOfALog(t *testing.T) {
	line := func(at string, n int) string {
		return fmt.Sprintf(`{"time":%q,"level":"info","message":%q}`+"\n", at, strings.Repeat("a", n))
	}
	early, late, zoneless := "2026-11-22T08:00:00Z", "2026-11-22T10:00:00Z", "2026-11-22T08:00:00"
	fill := strings.Repeat(line(early, 200), headSize/200)
	w := Window{Since: begin}
	logs := map[string]string{
		"no line break at the end": fill + line(late, 10) + line(late, 1)[:40],
		"a line of some blocks":    fill + line(late, 3*BlockSize) + fill + line(late, 3),
		"a line of many blocks":    fill + line(late, 3*stride) + fill + line(late, 3),
		"lines without a zone":     fill + line(zoneless, 10) + fill,
		"a line of year 1":         fill + line("0001-01-01T00:00:00Z", 10) + fill,
		"empty lines":              fill + strings.Repeat("\n", 3*BlockSize) + line(late, 2),
		"binary":                   fill + strings.Repeat("\x00", 2*BlockSize) + "\n" + line(late, 2),
		"lines that end at blocks": strings.Repeat(strings.Repeat("a", 1023)+"\n", 4096) + line(late, 2),
	}
	for _, name := range seed.Some(t, 1, slices.Sorted(maps.Keys(logs))) {
		b := logs[name]
		t.Run(name, func(t *testing.T) {
			x := index(t, file(t, []byte(b)))
			check(t, x, w, []byte(b))
			check(t, x, Window{Until: begin}, []byte(b))
			if name == "lines without a zone" {
				if ranges, _ := x.Ranges(w); len(ranges) != 1 || ranges[0].From != 0 {
					t.Errorf("got %v, want the block with the line", ranges)
				}
			}
		})
	}
}

// A stored is a log with an index in a directory.
type stored struct {
	*testing.T
	r     *rand.Rand
	text  []byte
	f     *os.File
	dir   string
	path  string // of the index
	index *Index
	bytes []byte // of the index
}

func newStored(t *testing.T) *stored {
	t.Helper()
	r := rand.New(rand.NewPCG(seed.Of(t), 1))
	s := &stored{T: t, r: r, dir: filepath.Join(t.TempDir(), "index")}
	s.text = text(s.r, logSize+1) // so that s.text[:logSize] is truncated
	s.f = file(t, s.text)
	s.index = s.open()
	list, _ := filepath.Glob(filepath.Join(s.dir, "*"))
	if len(list) != 1 {
		t.Fatalf("got %q, want one index", list)
	}
	s.path = list[0]
	var err error
	if s.bytes, err = os.ReadFile(s.path); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stored) open() *Index {
	s.Helper()
	x, err := Open(s.Context(), s.dir, s.f)
	if err != nil {
		s.Fatal(err)
	}
	return x
}

func TestAStoredIndexIsReadAgain(t *testing.T) {
	s := newStored(t)
	if !reflect.DeepEqual(decode(s.bytes), s.index) || !reflect.DeepEqual(s.open(), s.index) {
		t.Error("the stored index differs")
	}
	moved := s.f.Name() + ".1"
	must.Succeed(t, os.Rename(s.f.Name(), moved))
	f, err := os.Open(moved)
	must.Succeed(t, err)
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !read(s.path).fits(f, info.Size(), info.ModTime()) {
		t.Errorf("the renamed log has lost its index: %v", err)
	}
}

func TestADamagedIndexIsNotUsed(t *testing.T) {
	s := newStored(t)
	isPart := func(x *Index) bool {
		return x == nil || x.size == 0 && len(x.blocks) < len(s.index.blocks)+1 && slices.Equal(x.blocks, s.index.blocks[:len(x.blocks)])
	}
	for range 200 {
		i, bit := s.r.IntN(len(s.bytes)), byte(1)<<s.r.IntN(8)
		s.bytes[i] ^= bit
		if !isPart(decode(s.bytes)) {
			t.Errorf("an index with a changed byte at %d is used behind it", i)
		}
		s.bytes[i] ^= bit
		if n := s.r.IntN(len(s.bytes)); !isPart(decode(s.bytes[:n])) {
			t.Errorf("an index cut off at %d has more than that", n)
		}
	}
	for _, bad := range [][]byte{nil, s.bytes[:len(s.bytes)/2], bytes.Repeat(s.bytes[len(s.bytes)-entryLen:], 3)} {
		write(t, s.path, bad)
		if !reflect.DeepEqual(s.open(), s.index) {
			t.Errorf("an index of %d bytes is not made again", len(bad))
		}
	}
}

func TestALogThatHasGrownKeepsItsBlocks(t *testing.T) {
	s := newStored(t)
	more := append(bytes.Clone(s.text), text(s.r, spare)...)
	write(t, s.f.Name(), more)
	s.index.blocks[0].levels = 1 << 20 // a mark that only the stored index has
	write(t, s.path, s.index.encode())
	x := s.open()
	if n := len(s.index.blocks); !reflect.DeepEqual(x.blocks[:n], s.index.blocks) || x.covered != int64(len(more)) {
		t.Errorf("got %d bytes and %d blocks, want the %d blocks of before and more", x.covered, len(x.blocks), n)
	}
	check(t, x, Window{Since: begin.Add(time.Minute)}, more)
}

func TestAStaleIndexIsMadeAgain(t *testing.T) {
	s := newStored(t)
	other := text(s.r, logSize)
	for name, b := range map[string][]byte{
		"another log":     other,
		"truncated":       s.text[:logSize],
		"same beginning":  append(bytes.Clone(s.text[:headSize]), other...),
		"edited in place": bytes.ReplaceAll(s.text, []byte("-22T09:00"), []byte("-22T08:00")),
	} {
		write(t, s.path, s.bytes)
		write(t, s.f.Name(), b)
		at := time.Now().Add(-time.Minute)
		must.Succeed(t, os.Chtimes(s.f.Name(), at, at))
		want := index(t, s.f)
		if got := s.open(); !reflect.DeepEqual(got.blocks, want.blocks) || reflect.DeepEqual(got.blocks, s.index.blocks) {
			t.Errorf("%s: the index does not fit the log", name)
		}
	}
}

// Neither the beginning nor the end of a block identifies a log alone.
func TestALogThatLooksTheSameIsAnother(t *testing.T) {
	lines := func(day string) []byte {
		var b bytes.Buffer
		for i := range 1200 {
			fmt.Fprintf(&b, `{"time":"2026-11-%sT09:%02d:%02dZ","message":"%0900d"}`+"\n", day, i/60, i%60, 0)
		}
		return b.Bytes()
	}
	b := lines("22")
	f := file(t, b)
	info, err := f.Stat()
	must.Succeed(t, err)
	x := index(t, f)
	lastLine := append(bytes.Clone(b[:len(b)-100]), bytes.Repeat([]byte("1"), 100)...)
	for name, c := range map[string]struct {
		log  []byte
		want bool
	}{
		"the same": {b, true}, "other times": {lines("23"), false}, "another end": {lastLine, false}, "cut off": {b[:len(b)-1], false},
	} {
		if got := x.fits(bytes.NewReader(c.log), int64(len(c.log)), info.ModTime()); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestOldIndexesAreDeleted(t *testing.T) {
	dir := t.TempDir()
	for i := range maxKept + 20 {
		path := filepath.Join(dir, fmt.Sprintf("%04d%s", i, extension))
		write(t, path, nil)
		at := begin.Add(time.Duration(i) * time.Second)
		must.Succeed(t, os.Chtimes(path, at, at))
	}
	write(t, filepath.Join(dir, "1.tmp"), nil)
	write(t, filepath.Join(dir, "other"), nil)
	must.Succeed(t, os.Chtimes(filepath.Join(dir, "1.tmp"), begin.AddDate(-1, 0, 0),
		begin.AddDate(-1, 0, 0)))
	prune(dir)
	list, _ := os.ReadDir(dir)
	if len(list) != maxKept+1 || list[0].Name() != "0020"+extension || list[maxKept].Name() != "other" {
		t.Errorf("got %d files from %s to %s", len(list), list[0].Name(), list[len(list)-1].Name())
	}
}
