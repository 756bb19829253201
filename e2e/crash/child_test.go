// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink/file"
	"github.com/nib-log/nib/sink/spool"
)

const jobVar = "NIB_CRASH_JOB"

// A job describes the work of a child.
type job struct {
	Role    string
	Board   string
	Spool   string
	Log     string // "": there is no destination, lines are kept
	Second  string // another log, of a second destination
	Shared  bool   // other processes have the spool as well
	Written bool
	Round   int
	Writers int
	Lines   int // of each; 0: until the parent ends it
	Tries   int // how often a line may be refused before a goroutine gives up; 0: without limit
	Pad     int // lines are longer by at most this
	Pace    time.Duration
	Segment int64
	Size    int64
	MaxFile int64 // of the log file, which is rotated
	Seed    uint64
	Death   string
	Cgroup  string        // which the child puts itself into
	UID     int           // that the child has, if it is not 0
	Trap    bool          // wait until the test has set a trap
	Wait    time.Duration // for the destination at the end; lines that it has not accepted then stay
	Blocks  bool          // calls wait for a segment, so that no line is refused on a slow disk
}

// A report is written by a child that ends in an orderly way.
type report struct {
	Stats  spool.Stats
	File   file.Stats
	Told   []string      // errors that OnError was called with
	Fault  string        // why it did not end in an orderly way
	CPU    time.Duration // while it waited for the destination
	Waited time.Duration
	Memory memory // the maximum that was measured
}

func TestMain(m *testing.M) {
	if text := os.Getenv(jobVar); text != "" {
		var j job
		err := json.Unmarshal([]byte(text), &j)
		if err == nil {
			err = roles[j.Role](&j)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, j.Role+":", err)
			os.Exit(1)
		}
		return
	}
	fmt.Printf("NIB_SEED=%d\n", seed)
	code := m.Run()
	if err := writeTable(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// A lane is one goroutine's way into the spool: a sink that records the outcome
// of the last line.
type lane struct {
	spoolSink
	log *nib.Logger
	err error
	ack func() // called when the sink has returned, for lines that end the process
}

// A spoolSink is a spool, or a faulty one of a test.
type spoolSink interface {
	nib.Sink
	Flush(context.Context) error
}

func newLane(s spoolSink) *lane {
	l := &lane{spoolSink: s}
	l.log = nib.NewSink(l)
	return l
}

func (l *lane) WriteRecord(r *nib.Record) error {
	l.err = l.spoolSink.WriteRecord(r)
	if l.err == nil && l.ack != nil {
		l.ack()
	}
	return l.err
}

// A gate is a destination that refuses everything while the board is set to
// that, and otherwise delivers to another one.
type gate struct {
	*file.Sink
	board *board
}

var errDown = errors.New("the destination is down")

func (g *gate) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	if g.board.words[atDown].Load() != 0 {
		return delivery.Result{}, errDown
	}
	return g.Sink.Deliver(ctx, batch)
}

// Fork makes a gate of another destination of the file.
func (g *gate) Fork() (delivery.Destination, error) {
	f, err := g.Sink.Fork()
	if err != nil {
		return nil, err
	}
	return &gate{f.(*file.Sink), g.board}, nil
}

// A service has the open files and sinks of a child.
type service struct {
	j      *job
	board  *board
	spool  *spool.Sink
	sink   spoolSink // spool, or a sink that loses lines
	clock  func() time.Time
	file   *file.Sink
	second *file.Sink // of a second destination, or nil

	memory memory // the most that was there

	mu       sync.Mutex
	reported []string
}

// open opens everything as a service would.
func open(j *job) (*service, error) {
	b, err := openBoard(j.Board)
	if err != nil {
		return nil, err
	}
	if j.Trap {
		if err := awaitTrap(b); err != nil {
			return nil, err
		}
	}
	v := &service{j: j, board: b}
	onError := func(err error) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.reported = append(v.reported, err.Error())
	}
	var dest delivery.Destination
	if j.Log != "" {
		if v.file, err = file.Open(j.Log, file.Config{MaxSize: j.MaxFile, OnError: onError}); err != nil {
			return nil, err
		}
		dest = &gate{v.file, b}
	}
	c := spool.Config{SegmentSize: j.Segment, Size: j.Size, Written: j.Written, OnError: onError,
		Drain: j.Wait, Shared: j.Shared}
	if j.Blocks {
		c.OnFull = blocks
	}
	if j.Second != "" {
		if v.second, err = file.Open(j.Second, file.Config{OnError: onError}); err != nil {
			return nil, err
		}
		c.Also = []spool.NamedDestination{{Name: "second", To: v.second}}
	}
	from := time.Now()
	v.spool, err = spool.Open(j.Spool, dest, c)
	if err != nil {
		return nil, err
	}
	v.sink = v.spool
	b.words[atOpen].Store(uint64(time.Since(from)))
	return v, nil
}

// logAll begins to log from all goroutines.
func (v *service) logAll() *sync.WaitGroup {
	var wg sync.WaitGroup
	for w := range v.j.Writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			v.logLines(w)
		}()
	}
	v.board.words[atLogging].Store(1)
	return &wg
}

// logLines is one goroutine. It logs a refused line again, so in the end each
// number is in one accepted line, or in the line that was being logged.
func (v *service) logLines(writer int) {
	b, l := v.board, newLane(v.sink)
	if v.clock != nil {
		l.log = l.log.WithOptions(nib.WithClock(v.clock))
	}
	pad := newPadding(v.j.Seed, v.j.Pad)
	for k := 0; v.j.Lines == 0 || k < v.j.Lines; {
		if b.words[atEnough].Load() != 0 {
			return
		}
		b.lane(writer, laneBegun).Store(uint64(k) + 1)
		logLine(l.log, v.j.Round, writer, k, pad)
		if l.err != nil {
			if n := b.lane(writer, laneRefused).Add(1); v.j.Tries > 0 && int(n) >= v.j.Tries {
				return
			}
			time.Sleep(time.Millisecond) // the fault does not end at once
			continue
		}
		k++
		b.lane(writer, laneAccepted).Store(uint64(k))
		if v.j.Pace > 0 {
			time.Sleep(v.j.Pace)
		}
	}
}

// close ends the service in an orderly way, and reports.
func (v *service) close() error {
	wait := v.j.Wait
	if wait == 0 {
		wait = patience
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	before, from := usage(), time.Now()
	var r report
	err := v.spool.Flush(ctx)
	r.Waited = time.Since(from)
	after := usage()
	r.CPU = time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
	err = errors.Join(err, v.spool.Close())
	if v.file != nil {
		err = errors.Join(err, v.file.Close())
		r.File = v.file.Stats()
	}
	if v.second != nil {
		err = errors.Join(err, v.second.Close())
	}
	if err != nil {
		r.Fault = err.Error()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	r.Stats, r.Told, r.Memory = v.spool.Stats(), v.reported, v.memory
	return json.NewEncoder(os.Stdout).Encode(r)
}

func usage() (u syscall.Rusage) {
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it cannot fail
	return u
}

// roles are the functions that children run.
var roles = map[string]func(*job) error{
	"log": func(j *job) error { // and come to an orderly end
		v, err := open(j)
		if err != nil {
			return err
		}
		v.logAll().Wait()
		return v.close()
	},
	"die": die,
}

// A child is a process that a test has started.
type child struct {
	t     testing.TB
	cmd   *exec.Cmd
	board *board
	out   bytes.Buffer
	err   bytes.Buffer
	ended chan struct{}

	faulty bool // it may leave lines
	harmed bool // its files were damaged: a line that was logged again may count twice, as lost and as delivered
}

// start starts a child; before is the beginning of its command line, as for
// strace.
func start(t testing.TB, j job, b *board, before ...string) *child {
	t.Helper()
	j.Board = b.name
	self, err := os.Executable()
	must(t, err)
	args := append(before[:len(before):len(before)], self)
	c := &child{t: t, cmd: exec.Command(args[0], args[1:]...), board: b, ended: make(chan struct{}), faulty: j.Wait > 0}
	if j.UID > 0 {
		c.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(j.UID), Gid: uint32(j.UID)}}
		c.cmd.Path = readable(t, self)
		must(t, os.Chmod(b.name, 0o666), os.Chmod(filepath.Dir(b.name), 0o755))
	}
	c.cmd.Env = jobEnv(&j)
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.err
	must(t, c.cmd.Start())
	go func() {
		_ = c.cmd.Wait() // the result is in ProcessState
		close(c.ended)
	}()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill() // it has ended, or the test has failed
		<-c.ended
	})
	return c
}

// jobEnv returns the environment of a child.
func jobEnv(j *job) []string {
	text, err := json.Marshal(j)
	if err != nil {
		panic(err) // all of its values can be encoded
	}
	env := slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, jobVar+"=") })
	return append(env, jobVar+"="+string(text), "GOTRACEBACK=all", "GORACE=atexit_sleep_ms=0")
}

// readable returns a copy of a program that everyone may start.
func readable(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	must(t, err)
	dir := shmDir(t)
	to := filepath.Join(dir, filepath.Base(name))
	must(t, os.Chmod(dir, 0o755), os.WriteFile(to, text, 0o755))
	return to
}

// patience is how long a test waits for an event that must happen. It does not
// measure speed.
const patience = 2 * time.Minute

// blocks has calls wait until a segment has been made, however slow the machine
// is.
var blocks = []spool.FullRule{{From: nib.LevelTrace, Do: spool.ActionBlock, Wait: patience}}

// await waits until the child has reached a point, and fails if it ends before.
func (c *child) await(what string, reached func() bool) {
	c.t.Helper()
	late := time.After(patience)
	for !reached() {
		select {
		case <-c.ended:
			if !reached() {
				c.t.Fatalf("before %s the child ended, %v:\n%s", what, c.cmd.ProcessState, &c.err)
			}
		case <-late:
			c.t.Fatalf("the child does not come to %s", what)
		case <-time.After(50 * time.Microsecond):
		}
	}
}

// awaitOrEnd waits until the child has reached a point, or has ended.
func (c *child) awaitOrEnd(reached func() bool) {
	for !reached() {
		select {
		case <-c.ended:
			return
		case <-time.After(20 * time.Microsecond):
		}
	}
}

func (c *child) awaitLogging() {
	c.t.Helper()
	c.await("logging", func() bool { return c.board.words[atLogging].Load() != 0 })
}

// kill ends it at once.
func (c *child) kill() {
	c.t.Helper()
	must(c.t, c.cmd.Process.Kill())
	c.ends(killedBy(syscall.SIGKILL))
}

// wait waits for the child and returns how it ended. It ends a child that
// hangs, with the stacks of its goroutines on standard error.
func (c *child) wait() syscall.WaitStatus {
	c.t.Helper()
	select {
	case <-c.ended:
	case <-time.After(5 * patience):
		_ = c.cmd.Process.Signal(syscall.SIGQUIT)
		select {
		case <-c.ended:
		case <-time.After(10 * time.Second): // it is strace, or is stopped
			_ = c.cmd.Process.Kill()
			<-c.ended
		}
		c.t.Fatalf("the child hangs:\n%s", &c.err)
	}
	return c.cmd.ProcessState.Sys().(syscall.WaitStatus)
}

func exitedWith(code int) syscall.WaitStatus         { return syscall.WaitStatus(code << 8) }
func killedBy(sig syscall.Signal) syscall.WaitStatus { return syscall.WaitStatus(sig) }

// ends waits until the child ends, and checks how.
func (c *child) ends(want syscall.WaitStatus) {
	c.t.Helper()
	got := c.wait()
	if got.ExitStatus() != want.ExitStatus() || got.Signal() != want.Signal() {
		c.t.Fatalf("the child ended with exit %d, signal %v; want exit %d, signal %v; standard error:\n%s",
			got.ExitStatus(), got.Signal(), want.ExitStatus(), want.Signal(), &c.err)
	}
}

// report waits for an orderly end, checks the accounts, and returns them.
func (c *child) report() (r report) {
	c.t.Helper()
	c.ends(exitedWith(0))
	r = c.read()
	if r.Fault != "" && !c.faulty {
		c.t.Errorf("the child did not come to an orderly end: %s", r.Fault)
	}
	checkAccounts(c.t, r.Stats)
	logged := c.board.sum(laneAccepted) + c.board.sum(laneRefused) + r.Stats.Notices
	if c.harmed && r.Stats.Logged > logged && r.Stats.Logged <= logged+r.Stats.Lost() {
		return r
	}
	others := uint64(0) // notices that may be for other destinations than the first
	if len(r.Stats.Destinations) > 1 {
		others = r.Stats.Notices
	}
	if r.Stats.Logged > logged || r.Stats.Logged < logged-others {
		c.t.Errorf("the spool says that %d lines were logged; %d were", r.Stats.Logged, logged)
	}
	return r
}

// read reads the report.
func (c *child) read() (r report) {
	c.t.Helper()
	must(c.t, json.Unmarshal(c.out.Bytes(), &r))
	return r
}

// checkAccounts checks that no line has left the spool uncounted.
func checkAccounts(t testing.TB, st spool.Stats) {
	t.Helper()
	if in, out := st.Logged+st.Recovered, st.Delivered+st.Pending+st.Unfinished+st.Lost(); in != out {
		t.Errorf("%d lines came in and %d are accounted for: %+v", in, out, st)
	}
	for _, d := range st.Destinations {
		if in, out := d.Logged+d.Recovered, d.Delivered+d.Pending+d.Unfinished+d.Lost(); in != out {
			t.Errorf("%d lines came in for %s and %d are accounted for: %+v", in, d.Name, out, d)
		}
	}
}
