// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink/spool"
)

// An image holds the files of a spool at one moment.
type image map[string][]byte

func readImage(t testing.TB, dir string) image {
	t.Helper()
	list, err := os.ReadDir(dir)
	must(t, err)
	m := image{}
	for _, f := range list {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		must(t, err)
		m[f.Name()] = b
	}
	return m
}

func (m image) write(t testing.TB, dir string) {
	t.Helper()
	must(t, os.RemoveAll(dir), os.MkdirAll(dir, 0o700))
	for name, b := range m {
		must(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
}

// kind returns the names of the files with an extension.
func (m image) kind(ext string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if strings.HasSuffix(name, ext) {
			names = append(names, name)
		}
	}
	return names
}

// An arrival counts the delivered lines of an image.
type arrival struct {
	mu     sync.Mutex
	most   int // lines to accept; those after them are refused
	taken  []lineID
	wrong  int // lines that were not logged
	sample string
}

func (a *arrival) Deliver(_ context.Context, batch []nib.Record) (delivery.Result, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, r := range batch {
		if len(a.taken) >= a.most {
			return delivery.Result{Accepted: i}, errDown
		}
		id, ok := parse(r.Line[:max(len(r.Line)-1, 0)])
		if !ok {
			a.wrong++
			a.sample = fmt.Sprintf("%.100q", r.Line)
		}
		a.taken = append(a.taken, id)
	}
	return delivery.Result{Accepted: len(batch)}, nil
}

const (
	imageLines   = 1000
	imageSettled = 100 // of these lines
)

// The role of rows 5 and 6 logs some segments full of lines. The first lines
// are settled.
func init() {
	roles["image"] = func(j *job) error {
		a := &arrival{most: imageSettled}
		s, err := spool.Open(j.Spool, a, spool.Config{SegmentSize: segment, Size: 64 << 20, OnFull: blocks, Drain: time.Millisecond})
		if err != nil {
			return err
		}
		l, pad := newLane(s), newPadding(j.Seed, 500)
		for k := 0; k < imageLines; k++ {
			if logLine(l.log, 0, 0, k, pad); l.err != nil {
				k--
			}
		}
		for s.Stats().Delivered < imageSettled {
			time.Sleep(time.Millisecond)
		}
		if err := s.Sync(context.Background()); err != nil {
			return err
		}
		_ = s.Close() // lines are left
		return nil
	}
}

func newImage(r *run, before ...string) image {
	dir := filepath.Join(r.TempDir(), "spool") // files in memory have no copies
	start(r, job{Role: "image", Spool: dir, Seed: r.seed}, newBoard(r, 1), before...).ends(exitedWith(0))
	return readImage(r, dir)
}

// start opens an image, and returns how many of the lines that were not settled
// are missing, and how many of those that were came again.
func (m image) start(t testing.TB, dir string) (missing, again int) {
	t.Helper()
	m.write(t, dir)
	a := &arrival{most: 1 << 30}
	s, err := spool.Open(dir, a, spool.Config{SegmentSize: segment, Size: 64 << 20})
	if err != nil {
		t.Fatalf("the start is refused: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	must(t, s.Flush(ctx), s.Close())
	checkAccounts(t, s.Stats())
	if a.wrong > 0 {
		t.Errorf("%d lines were accepted that nobody has logged: %s", a.wrong, a.sample)
	}
	has, last := map[int]bool{}, -1
	for _, id := range a.taken {
		if id.k <= last {
			t.Errorf("line %d follows %d", id.k, last)
		}
		last = id.k
		if id.k < imageSettled {
			again++
		}
		has[id.k] = true
	}
	for k := imageSettled; k < imageLines; k++ {
		if !has[k] {
			missing++
		}
	}
	return missing, again
}

// TestFlippedBits is row 6.
func TestFlippedBits(t *testing.T) {
	r := begin(t, "6")
	base, dir := newImage(r), filepath.Join(shmDir(t), "spool")
	if missing, _ := base.start(t, dir); missing > 0 {
		t.Fatalf("%d lines of the image are missing", missing)
	}
	flips := count(1200, 10_000)
	where := []struct {
		name, ext string
		from, to  int
	}{{"header", ".seg", 0, 88}, {"records", ".seg", 4096, segment}, {"cursor", ".cursor", 0, 576}, {"copy", ".copy", 0, segment}}
	for _, w := range where {
		names := base.kind(w.ext)
		if len(names) == 0 {
			continue
		}
		lost, most, came := 0, 0, 0
		for range flips / len(where) {
			m := maps.Clone(base)
			name := names[r.rng.IntN(len(names))]
			b := slices.Clone(m[name])
			at, bit := w.from+r.rng.IntN(min(w.to, len(b))-w.from), r.rng.IntN(8)
			b[at] ^= 1 << bit
			m[name] = b
			missing, again := m.start(t, dir)
			lost, most, came = lost+missing, max(most, missing), max(came, again)
			if t.Failed() {
				t.Fatalf("bit %d of byte %d of %s", bit, at, name)
			}
		}
		r.found("%d in %s: %d lines lost, at most %d by a bit, at most %d again", flips/len(where), w.name, lost, most, came)
		if most > 1 {
			t.Errorf("one bit of the %s takes %d lines", w.name, most)
		}
	}
	r.harm(base, dir)
}

// harm truncates files, appends to them and removes them: a start must survive
// that.
func (r *run) harm(base image, dir string) {
	rounds := count(200, 2000)
	for range rounds {
		m := maps.Clone(base)
		names := slices.Sorted(maps.Keys(m))
		for range 1 + r.rng.IntN(3) {
			name := names[r.rng.IntN(len(names))]
			switch b := slices.Clone(m[name]); r.rng.IntN(4) {
			case 0:
				delete(m, name)
			case 1:
				m[name] = b[:r.rng.IntN(len(b)+1)]
			case 2:
				m[name] = append(b, "junk\n"...)
			default:
				if len(b) > 0 {
					from := r.rng.IntN(len(b))
					clear(b[from:min(len(b), from+r.rng.IntN(8192))])
				}
				m[name] = b
			}
		}
		m.start(r, dir)
		if r.Failed() {
			r.Fatal("the files were cut off, removed, cleared or appended to")
		}
	}
	r.found("%d times files cut off, removed, cleared, appended to: all started, nothing wrong accepted", rounds)
}

// TestLostSectors is row 5: sectors of 512 bytes of the segments are lost, as
// if the system had not written them before the power was cut. The copies were
// synced.
func TestLostSectors(t *testing.T) {
	r := begin(t, "5")
	if why := noOtherBoot(); why != "" {
		r.skip("%s", why)
	}
	base, dir := newImage(r, otherBoot(r, 1)...), filepath.Join(shmDir(t), "spool")
	images := count(300, 5000)
	copies := len(base.kind(".copy"))
	lost := 0
	for range images {
		m := maps.Clone(base)
		share := r.rng.Float64()
		for _, name := range base.kind(".seg") {
			b := slices.Clone(m[name])
			for at := 0; at < len(b); at += 512 {
				if r.rng.Float64() < share {
					clear(b[at:min(at+512, len(b))])
				}
			}
			m[name] = b
		}
		missing, _ := m.start(t, dir)
		if lost += missing; t.Failed() || missing > 0 {
			t.Fatalf("%.2f of the sectors were lost, and %d lines", share, missing)
		}
	}
	r.found("%d images of %d segments and %d copies: all started, 0 wrong, %d lines lost", images, len(base.kind(".seg")), copies, lost)
	r.ofPackage("TestPowerLoss|TestSyncedLinesSurvivePowerLoss")
}

// ofPackage runs tests of sink/spool that make images inside the package.
func (r *run) ofPackage(tests string) {
	r.Helper()
	cmd := exec.Command("go", "test", "-count=1", "-timeout=1h", "-v", "-run", tests, "./sink/spool/")
	cmd.Dir = filepath.Join("..", "..")
	_, err := os.Stat(filepath.Join(cmd.Dir, "sink", "spool"))
	if err == nil {
		_, err = exec.LookPath("go")
	}
	if err != nil {
		r.lacks("the images of sink/spool", err.Error())
		return
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.Errorf("%v: %v\n%s", cmd, err, out)
	}
	passes := strings.Count(string(out), "\n--- PASS:")
	if strings.HasPrefix(string(out), "--- PASS:") {
		passes++
	}
	r.found("%d tests of sink/spool that make images passed", passes)
	if passes == 0 {
		r.Errorf("no test of sink/spool was run:\n%s", out)
	}
}
