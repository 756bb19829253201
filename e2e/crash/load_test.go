// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink/spool"
)

// TestForkAndSignals is row 21.
func TestForkAndSignals(t *testing.T) {
	r := begin(t, "21")
	b := newBoard(t, 4)
	p, l := newPlace(t, shmDir(t)), newLedger()
	j := job{Role: "fork", Spool: p.spool, Log: p.log, Writers: 4, Pad: 400, Pace: 20 * time.Microsecond, Segment: segment, Size: 64 << 20, Seed: r.seed}
	c := start(t, j, b)
	c.awaitLogging()
	signals := 0
	for b.words[atEnough].Load() == 0 { // it has started all of its programs
		for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCHLD, syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGURG} {
			if err := c.cmd.Process.Signal(sig); !errors.Is(err, os.ErrProcessDone) || b.words[atEnough].Load() == 0 {
				must(t, err)
			}
			signals++
		}
		c.await("a while", func() bool { time.Sleep(100 * time.Microsecond); return true })
	}
	c.ends(exitedWith(0)) // in the program that it has become
	var kept []string
	for line := range strings.Lines(c.out.String()) {
		if strings.HasPrefix(line, "has ") {
			kept = append(kept, strings.TrimSpace(line))
		}
	}
	if len(kept) > 0 {
		t.Errorf("programs that were started have files of the log open: %q", kept)
	}
	l.enter(0, b)
	v, _ := l.check(t, p, 0)
	r.found("%d programs started, one lives on, one exec, %d signals: %v; %d files inherited", forks+1, signals, v, len(kept))
}

const forks = 50

// The roles of rows 21 and 22.
func init() {
	roles["files"] = listFiles
	roles["fork"] = forkAndExec
	roles["many"] = logBesideGarbage
}

// listFiles lists the files of the spool and the log that the process has
// inherited.
func listFiles(j *job) error {
	for _, dir := range []string{"/proc/self/fd", "/proc/self/map_files"} {
		list, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
		for _, f := range list {
			to, err := os.Readlink(filepath.Join(dir, f.Name()))
			if err == nil && (strings.HasPrefix(to, j.Spool) || strings.HasPrefix(to, filepath.Dir(j.Log))) {
				fmt.Println("has", to)
			}
		}
	}
	time.Sleep(j.Pace)
	return nil
}

// forkAndExec starts programs while it logs, and then becomes another one.
func forkAndExec(j *job) error {
	signal.Notify(make(chan os.Signal, 100), syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	v, err := open(j)
	if err != nil {
		return err
	}
	wg := v.logAll()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for range forks {
		cmd := exec.Command(self)
		cmd.Env, cmd.Stdout, cmd.Stderr = jobEnv(&job{Role: "files", Spool: j.Spool, Log: j.Log}), os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return err
		}
	}
	living := exec.Command(self) // it outlives this process, which locks the spool
	living.Env = jobEnv(&job{Role: "files", Spool: j.Spool, Log: j.Log, Pace: 2 * time.Second})
	if err := living.Start(); err != nil {
		return err
	}
	v.board.words[atEnough].Store(1)
	wg.Wait()
	signal.Ignore(syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGHUP) // until the program that it becomes has its handlers
	again := *j                                                     // nothing is closed: exec closes the files
	again.Role, again.Lines, again.Writers = "log", 1, 0
	return syscall.Exec(self, os.Args, jobEnv(&again))
}

// logBesideGarbage logs while another goroutine keeps the garbage collector
// busy.
func logBesideGarbage(j *job) error {
	v, err := open(j)
	if err != nil {
		return err
	}
	if j.Death == "discard" { // the same without a spool, to compare
		v.sink = discard{v.spool}
	}
	debug.SetGCPercent(20)
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			default:
				kept = [][]byte{make([]byte, 1<<20)}
				v.memory.look()
				runtime.Gosched()
			}
		}
	}()
	v.logAll().Wait()
	close(done)
	<-ended
	return v.close()
}

// A memory is how many bytes a process has: its own, in heap and stacks, and
// the mapped bytes of files such as the segments of a spool.
type memory struct{ Own, Mapped int64 }

// look raises m to the present memory of the process.
func (m *memory) look() {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return // then m stays 0, which the test reports
	}
	var now memory
	for line := range strings.Lines(string(text)) {
		var kib int64
		name, value, _ := strings.Cut(line, ":")
		_, _ = fmt.Sscan(value, &kib) // other lines are not numbers
		switch name {
		case "RssAnon":
			now.Own = kib << 10
		case "RssFile", "RssShmem":
			now.Mapped += kib << 10
		}
	}
	m.Own, m.Mapped = max(m.Own, now.Own), max(m.Mapped, now.Mapped)
}

type discard struct{ *spool.Sink }

// WriteRecord keeps all goroutines waiting at the same time, each with a line,
// as when they wait for a segment.
func (discard) WriteRecord(*nib.Record) error {
	time.Sleep(time.Millisecond)
	return nil
}

// TestManyGoroutines is row 22.
func TestManyGoroutines(t *testing.T) {
	r := begin(t, "22")
	writers := count(2_000, 10_000)
	b := newBoard(t, writers)
	var most [2]memory
	var v verdict
	var st spool.Stats
	for i, kind := range []string{"discard", ""} {
		p, l := newPlace(t, shmDir(t)), newLedger()
		c := start(t, job{Role: "many", Death: kind, Spool: p.spool, Log: p.log, Writers: writers, Lines: 100, Pad: 4000,
			Segment: 8 << 20, Size: 1 << 30, Seed: r.seed}, b)
		if i == 0 {
			c.ends(exitedWith(0))
			rep := c.read()
			most[i] = rep.Memory
			l.enter(0, b)
			continue
		}
		rep := c.report()
		most[i], st = rep.Memory, rep.Stats
		if n := b.sum(laneRefused); n != st.Lost() {
			t.Errorf("%d lines were refused, %d are counted", n, st.Lost())
		}
		l.enter(0, b)
		v, _ = l.check(t, p, 0)
	}
	above, mapped := (most[1].Own-most[0].Own)>>20, (most[1].Mapped-most[0].Mapped)>>20
	r.found("%d goroutines × 100: %v; %d refused and logged again; above the same without a spool: %d MiB of its own, %d MiB of segments",
		writers, v, st.Lost(), above, mapped)
	if most[0].Own == 0 || most[1].Mapped < 8<<20 {
		t.Errorf("memory was not seen: %+v", most)
	}
	if above+mapped > 128 { // calls are refused while the destination falls behind, and more goroutines wait
		t.Errorf("it takes %d MiB of memory more than without a spool", above+mapped)
	}
}

// A collector takes everything, and keeps the length and checksum of each line.
type collector struct {
	mu    sync.Mutex
	lines []sized
}

type sized struct {
	size int
	sum  uint32
}

func (c *collector) Deliver(_ context.Context, batch []nib.Record) (delivery.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range batch {
		if !bytes.Contains(r.Line, []byte(`"message":"lines lost`)) {
			c.lines = append(c.lines, sized{len(r.Line), crc32.ChecksumIEEE(r.Line)})
		}
	}
	return delivery.Result{Accepted: len(batch)}, nil
}

// TestSizes is row 23.
func TestSizes(t *testing.T) {
	r := begin(t, "23")
	const head, record = 4096, 48
	var taken, refused int
	for _, size := range []int{64 << 10, 1 << 20, count(4<<20, 80<<20)} {
		var sizes []int
		for _, around := range []int{0, 8, 48, 512, 4096, 8192, size - head - record, size - head, size, 64 << 10, 1 << 20, 16 << 20, 64 << 20} {
			for d := -9; d <= 9; d++ {
				if n := around + d; n >= 0 && n <= 64<<20 && (n < 8<<20 || d == 0) {
					sizes = append(sizes, n)
				}
			}
		}
		d := &collector{}
		s, err := spool.Open(filepath.Join(shmDir(t), "spool"), d, spool.Config{SegmentSize: int64(size), Size: 1 << 30, OnFull: blocks})
		must(t, err)
		text := bytes.Repeat([]byte("0123456789abcde\n"), 4<<20+1)
		var want []sized
		lost := uint64(0)
		for _, n := range sizes {
			line := text[n%13 : n%13+n]
			err := s.WriteRecord(&nib.Record{Line: line})
			switch {
			case err == nil:
				want = append(want, sized{n, crc32.ChecksumIEEE(line)})
			case errors.Is(err, delivery.ErrTooLarge) && n > size-head-record:
				lost++
			default:
				t.Errorf("%d bytes into segments of %d: %v", n, size, err)
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		must(t, s.Flush(ctx), s.Close())
		cancel()
		st := s.Stats()
		checkAccounts(t, st)
		if st.Lost() != lost || !slices.Equal(d.lines, want) {
			t.Errorf("segments of %d: %d lines of %d are as they were; %d refused, %d counted", size, len(d.lines), len(want), lost, st.Lost())
		}
		taken, refused = taken+len(want), refused+int(lost)
	}
	r.found("%d lines delivered byte for byte, %d that are longer than a segment refused and counted", taken, refused)
}

// atOnce is the time within which the first line must be accepted. On a busy
// machine it is enough that one start shows it.
const atOnce = 5 * time.Millisecond

// TestBacklog is row 29.
func TestBacklog(t *testing.T) {
	r := begin(t, "29")
	size := count(128<<20, 1<<30)
	dir := t.TempDir()
	p := newPlace(t, dir)
	c := spool.Config{Size: 2 << 30, Drain: time.Minute} // Close waits for a slow disk
	s, err := spool.Open(p.spool, nil, c)
	must(t, err)
	line := append(bytes.Repeat([]byte("x"), 999), '\n')
	lines := 0
	for ; lines*1048 < size; lines++ {
		for s.WriteRecord(&nib.Record{Line: line}) != nil {
			time.Sleep(time.Millisecond) // making segments is slower
		}
	}
	must(t, s.Close())
	var firsts []time.Duration
	for late := time.Now().Add(patience); len(firsts) < 9 || slices.Min(firsts) > atOnce && time.Now().Before(late); {
		from := time.Now()
		s, err := spool.Open(p.spool, nil, c)
		must(t, err)
		must(t, s.WriteRecord(&nib.Record{Line: line}))
		firsts = append(firsts, time.Since(from))
		must(t, s.Close())
		lines++
	}
	slices.Sort(firsts)
	d := &collector{}
	from := time.Now()
	s, err = spool.Open(p.spool, d, c)
	must(t, err)
	must(t, s.Flush(context.Background()))
	took := time.Since(from)
	must(t, s.Close())
	checkAccounts(t, s.Stats())
	if len(d.lines) != lines || s.Stats().Lost() > 0 {
		t.Errorf("%d lines of %d", len(d.lines), lines)
	}
	r.found("%d MiB: the first line is accepted after %.1f ms (best of %d starts; median %.1f); %d lines delivered, %.2f GB/s",
		size>>20, ms(firsts[0]), len(firsts), ms(firsts[len(firsts)/2]), lines, float64(lines*1048)/took.Seconds()/1e9)
	if firsts[0] > atOnce {
		t.Errorf("the first line is accepted after %v", firsts[0])
	}
}
