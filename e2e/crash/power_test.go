// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// The role of row 4 logs until it is killed, and records for each goroutine how
// many of its lines the spool reports as synced.
func init() {
	roles["durable"] = func(j *job) error {
		v, err := open(j)
		if err != nil {
			return err
		}
		v.logAll()
		safe := make([]uint64, j.Writers)
		for {
			for w := range safe {
				safe[w] = v.board.lane(w, laneAccepted).Load()
			}
			if err := v.spool.Sync(context.Background()); err != nil {
				time.Sleep(time.Millisecond) // the power is cut
				continue
			}
			for w, n := range safe {
				v.board.lane(w, laneDurable).Store(n)
			}
		}
	}
}

// A machine has a disk, and a power that can be cut.
type machine struct {
	*run
	image, dir string
	boots      int
}

// boot mounts the disk.
func (m *machine) boot() (why string) {
	if err := vfstest.MountExt4(m.image, m.dir, ""); err != nil {
		return fmt.Sprint("cannot mount: ", err)
	}
	m.boots++
	return ""
}

// shutDown unmounts the disk.
func (m *machine) shutDown() {
	m.Helper()
	m.must(syscall.Unmount(m.dir, 0))
}

// otherBoot begins the command line of a child that sees another boot id, in
// its own mount namespace, as if the machine had been restarted.
func otherBoot(r *run, boots int) []string {
	id := filepath.Join(shmDir(r), "boot_id")
	r.must(os.WriteFile(id, fmt.Appendf(nil, "%08x-0000-4000-8000-%012x\n", boots, r.seed&0xffffffffffff), 0o644))
	return []string{"unshare", "-m", "--propagation", "private", "sh", "-c",
		`mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"`, id}
}

// noOtherBoot returns why that cannot be done, or "".
func noOtherBoot() (why string) {
	if out, err := exec.Command("unshare", "-m", "--propagation", "private", "sh", "-c",
		"mount --bind /dev/null /proc/sys/kernel/random/boot_id").CombinedOutput(); err != nil {
		return fmt.Sprintf("no mount namespaces: %v: %s", err, out)
	}
	return ""
}

// newMachine makes a machine, or returns why it cannot.
func newMachine(r *run) (m *machine, why string) {
	image, why := ext4Image(r, 64<<20)
	if why != "" {
		return nil, why
	}
	m = &machine{run: r, image: image, dir: filepath.Join(r.TempDir(), "disk")}
	r.must(os.Mkdir(m.dir, 0o755))
	dir := m.dir
	r.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }) // in case of a fault
	if why := m.boot(); why != "" {
		return nil, why
	}
	return m, noOtherBoot()
}

// TestPowerCut is row 4. Every other group of cuts has a log file on the same
// disk, to which lines are delivered at the same time.
func TestPowerCut(t *testing.T) {
	r := begin(t, "4")
	m, why := newMachine(r)
	if why != "" {
		r.skip("%s", why)
	}
	cuts, of := count(20, 500), count(5, 25)
	b := newBoard(t, 8)
	var sum [2]verdict
	returned, gone := 0, 0
	for done := 0; done < cuts; {
		kind := done / of % 2
		p, l, j := newPlace(t, m.dir), newLedger(), job{Role: "durable", Writers: 8, Pad: 1000, Pace: 50 * time.Microsecond,
			Segment: segment, Size: 16 << 20, Seed: r.seed}
		for _, dir := range []string{filepath.Dir(p.log), p.base, m.dir} { // the spool does not sync these directories
			f, err := os.Open(dir)
			must(t, err, f.Sync(), f.Close())
		}
		if done/of%4 >= 2 {
			j.Written = true
		}
		if j.Spool = p.spool; kind == 1 {
			j.Log, j.MaxFile = p.log, 1<<20
		} else {
			p.log = filepath.Join(shmDir(t), "app.log")
		}
		var v verdict
		issued := newLedger() // of all calls that returned, safe or not
		for ; l.rounds < of && done < cuts; done++ {
			j.Round = l.rounds
			m.cutOnce(l, issued, j, b)
			if why := m.boot(); why != "" {
				t.Fatal(why)
			}
			deliverRest(t, p, j.MaxFile)
			text := logText(t, p.log)
			v = l.judge(text)
			if kind == 1 { // unsynced parts of the log may be zeros, or be there again
				v.torn, v.duplicates, v.misordered = 0, 0, 0
			}
			if !v.clean() {
				t.Fatalf("cut %d: %v (%s)", done, v, v.example)
			}
		}
		sum[kind].add(v)
		all := issued.judge(logText(t, p.log))
		returned, gone = returned+all.accepted, gone+all.lost
		must(t, os.RemoveAll(p.base))
	}
	m.shutDown()
	safe, there := sum[0].accepted+sum[1].accepted, sum[0].lines+sum[1].lines
	r.found("%d cuts: %d calls had returned, %d of them were safe, 0 of these lost, %d of the others; %d lines there; every start succeeded",
		cuts, returned, safe, gone, there)
	if safe == 0 || full && gone == 0 {
		t.Error("nothing was promised, or nothing was taken away")
	}
}

// cutOnce lets a child log for a while and cuts the power. Only lines that were
// safe before that are entered as accepted.
func (m *machine) cutOnce(l, issued *ledger, j job, b *board) {
	m.Helper()
	c := start(m, j, b, otherBoot(m.run, m.boots)...)
	c.awaitLogging()
	time.Sleep(time.Duration(m.rng.IntN(40_000)) * time.Microsecond)
	safe := make([]uint64, j.Writers)
	for w := range safe {
		safe[w] = b.lane(w, laneDurable).Load()
	}
	m.must(vfstest.CutPower(m.dir))
	time.Sleep(time.Duration(m.rng.IntN(5000)) * time.Microsecond)
	c.kill()
	for w, n := range safe {
		at := writerID{j.Round, w}
		issued.accepted[at], issued.begun[at] = int(b.lane(w, laneAccepted).Load()), int(b.lane(w, laneBegun).Load())
		b.lane(w, laneAccepted).Store(n)
	}
	l.enter(j.Round, b)
	m.shutDown()
}
