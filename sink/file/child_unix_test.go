// SPDX-License-Identifier: Apache-2.0

//go:build unix

package file

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
)

// Tests start this binary as a service, configured by the environment. It
// reports on standard output, and proceeds on input from standard input.
const (
	childVar  = "NIB_FILE_CHILD"
	configVar = "NIB_FILE_CONFIG"
)

// A childConfig configures a child.
type childConfig struct {
	Path     string
	Writer   int // numbers its lines from Writer*Each
	Each     int
	RotateAt int // rotate after this many lines
	MaxSize  int64
	Backups  int
	Compress bool
	Buffer   int
}

func (c childConfig) config() Config {
	conf := Config{MaxSize: c.MaxSize, MaxBackups: c.Backups, Buffer: c.Buffer}
	if c.Compress {
		conf.Compress = Gzip(1)
	}
	return conf
}

func TestMain(m *testing.M) {
	role := os.Getenv(childVar)
	if role == "" {
		os.Exit(m.Run())
	}
	var c childConfig
	err := json.Unmarshal([]byte(os.Getenv(configVar)), &c)
	if err == nil {
		err = children[role](c)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(1)
	}
	os.Exit(0)
}

var children = map[string]func(childConfig) error{
	"rotate":                 rotateAsChild,
	"log until killed":       logUntilKilled,
	"run out of descriptors": runOutOfDescriptors,
	"fail by default":        failByDefault,
}

// failByDefault sets no OnError, and loses buffered lines because its directory
// is gone.
func failByDefault(c childConfig) error {
	if err := os.Mkdir(filepath.Dir(c.Path), 0o700); err != nil {
		return err
	}
	s, err := Open(c.Path, c.config())
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Dir(c.Path)); err != nil {
		return err
	}
	for n := range c.Each {
		_ = s.WriteRecord(&nib.Record{Level: nib.LevelInfo, Line: fmt.Appendf(nil, "{\"n\":%d}\n", n)})
	}
	_ = s.Close() // returns the same error
	return nil
}

// TestFaultsAreReportedByDefault checks that errors are written to standard
// error by default.
func TestFaultsAreReportedByDefault(t *testing.T) {
	c, err := json.Marshal(childConfig{Path: filepath.Join(t.TempDir(), "gone", "log"), Each: 1000, MaxSize: 1000, Buffer: 4096})
	must(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"=fail by default", configVar+"="+string(c))
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	most := 3 + int(time.Since(begin)/time.Second)
	if lines := bytes.Count(out, []byte("\n")); err != nil || lines == 0 || lines > most || !bytes.HasPrefix(out, []byte("nib/file: ")) {
		t.Errorf("got %v and\n%s\nwant 1 to %d lines of nib/file, at most one a second", err, out, most)
	}
}

// rotateAsChild logs and rotates.
func rotateAsChild(c childConfig) error {
	conf := c.config()
	var fault error
	conf.OnError = func(err error) { fault = err }
	s, err := Open(c.Path, conf)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	for n := range c.Each {
		if err := s.WriteRecord(record(nib.LevelInfo, c.Writer*c.Each+n, 0)); err != nil {
			return err
		}
		if err := s.holdsAName(); err != nil {
			return err
		}
		if c.RotateAt > 0 && n%c.RotateAt == c.RotateAt-1 {
			if err := s.Rotate(); err != nil {
				return err
			}
		}
	}
	st := s.Stats()
	if err := s.Close(); err != nil {
		return err
	}
	if st.Lost() > 0 || st.Errors > 0 {
		return fmt.Errorf("%+v, OnError got %v", st, fault)
	}
	fmt.Println(st.Rotations)
	return nil
}

// holdsAName returns an error if the file that was written to has been deleted.
func (s *Sink) holdsAName() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if info, err := s.w.file.Stat(); err != nil || info.Links != 1 {
		return fmt.Errorf("the file that is written to: %+v, %v", info, err)
	}
	return nil
}

// logUntilKilled reports each line that was written.
func logUntilKilled(c childConfig) error {
	s, err := Open(c.Path, c.config())
	if err != nil {
		return err
	}
	for n := c.Writer * c.Each; ; n++ {
		if err := s.WriteRecord(record(nib.LevelInfo, n, 0)); err != nil {
			return err
		}
		if _, err := fmt.Println(n); err != nil {
			return err
		}
	}
}

// runOutOfDescriptors exhausts all descriptors while it rotates.
func runOutOfDescriptors(c childConfig) error {
	s, err := Open(c.Path, c.config())
	if err != nil {
		return err
	}
	defer s.Close()
	write := func(from, to int) error {
		for n := from; n < to; n++ {
			if err := s.WriteRecord(record(nib.LevelInfo, n, 100)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := write(0, 30); err != nil {
		return err
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	few := limit
	few.Cur = 1
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		return err
	}
	if err := write(30, 60); err != nil {
		return fmt.Errorf("without descriptors: %w", err)
	}
	if err := s.Rotate(); !errors.Is(err, syscall.EMFILE) {
		return fmt.Errorf("Rotate without descriptors: got %v, want EMFILE", err)
	}
	if err := s.Reopen(); !errors.Is(err, syscall.EMFILE) {
		return fmt.Errorf("Reopen without descriptors: got %v, want EMFILE", err)
	}
	if err := errors.Join(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit), s.Rotate(), write(60, 90)); err != nil {
		return err
	}
	fmt.Println(s.Stats().Rotations)
	return nil
}

// A child is a service that a test has started.
type child struct {
	cmd  *exec.Cmd
	out  *bufio.Reader
	goOn io.WriteCloser
}

func start(t *testing.T, role string, c childConfig) *child {
	t.Helper()
	conf, err := json.Marshal(c)
	must(t, err)
	ch := &child{cmd: exec.Command(os.Args[0])}
	ch.cmd.Env = append(os.Environ(), childVar+"="+role, configVar+"="+string(conf))
	ch.cmd.Stderr = os.Stderr
	out, err := ch.cmd.StdoutPipe()
	must(t, err)
	ch.out = bufio.NewReader(out)
	ch.goOn, err = ch.cmd.StdinPipe()
	must(t, err, ch.cmd.Start())
	t.Cleanup(func() {
		if ch.cmd.ProcessState == nil {
			_ = ch.cmd.Process.Kill()
			_ = ch.cmd.Wait()
		}
	})
	return ch
}

// report returns the next line that a child reports, or "".
func (c *child) report() string {
	line, err := c.out.ReadString('\n')
	if err != nil {
		return ""
	}
	return line[:len(line)-1]
}

// number returns the next report as a number.
func (c *child) number(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(c.report())
	must(t, err)
	return n
}

// TestTwoProcessesRotateOnePath has two processes rotate continuously, by size
// and by calls of Rotate.
func TestTwoProcessesRotateOnePath(t *testing.T) {
	for _, c := range []struct {
		name string
		c    [2]childConfig
	}{
		{"by hand", [2]childConfig{{RotateAt: 2}, {RotateAt: 3}}},
		{"by size", [2]childConfig{{MaxSize: 500}, {MaxSize: 700}}},
		{"buffered", [2]childConfig{{MaxSize: 500, Buffer: 300}, {RotateAt: 5, Buffer: 10_000}}},
		{"compressed", [2]childConfig{{RotateAt: 4, Compress: true}, {MaxSize: 300, Compress: true}}},
		{"one compresses", [2]childConfig{{RotateAt: 4, Compress: true}, {MaxSize: 300}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			const each = 1000
			dir := t.TempDir()
			var both [2]*child
			for w := range both {
				c.c[w].Path, c.c[w].Writer, c.c[w].Each = filepath.Join(dir, "app.log"), w, each
				both[w] = start(t, "rotate", c.c[w])
			}
			for _, ch := range both {
				if got := ch.report(); got != "ready" {
					t.Fatalf("got report %q", got)
				}
			}
			for _, ch := range both {
				_, err := ch.goOn.Write([]byte{'\n'})
				must(t, err)
			}
			rotations := 0
			for _, ch := range both {
				rotations += ch.number(t)
				must(t, ch.cmd.Wait())
			}
			checkEachOnce(t, dir, 2, each)
			if rotations < 5 {
				t.Errorf("got %d rotations, want many", rotations)
			}
		})
	}
}

// TestTwoProcessesDeleteOldFiles checks that two processes delete only old
// files, and no file that one of them writes to, which they check after each
// line.
func TestTwoProcessesDeleteOldFiles(t *testing.T) {
	const each, backups = 1000, 3
	dir := t.TempDir()
	path := filepath.Join(dir, "app.log")
	var both [2]*child
	for w := range both {
		both[w] = start(t, "rotate", childConfig{Path: path, Writer: w, Each: each, RotateAt: 10, Backups: backups, Compress: w == 0})
		both[w].report()
	}
	for _, ch := range both {
		_, err := ch.goOn.Write([]byte{'\n'})
		must(t, err)
	}
	for _, ch := range both {
		ch.number(t)
		must(t, ch.cmd.Wait())
	}
	lines, _, torn := parse(allOf(t, dir))
	last := [2]int{-1, -1}
	for _, l := range lines {
		w, n := *l.N/each, *l.N%each
		if n <= last[w] {
			t.Errorf("writer %d: line %d follows %d", w, n, last[w])
		}
		last[w] = n
	}
	if got := len(files(t, dir)); got < backups+1 || got > backups+5 || len(torn) > 0 || max(last[0], last[1]) != each-1 {
		t.Errorf("got %d files, the last lines %d, torn %q, want %d old ones and few more", got, last, torn, backups)
	}
}

// TestKilledProcessLosesNothing kills a process with SIGKILL while it rotates:
// each line whose call had returned is in a file, once.
func TestKilledProcessLosesNothing(t *testing.T) {
	rounds := 10
	if os.Getenv("NIB_E2E") == "full" {
		rounds = 200
	}
	for _, compress := range []bool{false, true} {
		dir := t.TempDir()
		const each = 100_000
		reported := make([]int, rounds)
		for round := range rounds {
			c := start(t, "log until killed", childConfig{
				Path: filepath.Join(dir, "app.log"), Writer: round, Each: each, MaxSize: 200, Compress: compress,
			})
			for range 20 + 7*round%100 {
				reported[round] = c.number(t) - round*each + 1
			}
			must(t, c.cmd.Process.Kill())
			for n := c.report(); n != ""; n = c.report() {
				at, err := strconv.Atoi(n)
				must(t, err)
				reported[round] = at - round*each + 1
			}
			_ = c.cmd.Wait()
		}
		s := open(t, filepath.Join(dir, "app.log"), Config{Compress: Gzip(0)}) // completes the interrupted compression
		cleaned(s)
		must(t, s.Close())
		lines, _, torn := parse(allOf(t, dir))
		next := make([]int, rounds)
		for _, l := range lines {
			round, n := *l.N/each, *l.N%each
			if n != next[round] {
				t.Fatalf("round %d: got line %d, want %d", round, n, next[round])
			}
			next[round]++
		}
		for round, n := range next {
			if n != reported[round] && n != reported[round]+1 { // one line may have been written and not reported
				t.Errorf("round %d: got %d lines, %d were reported", round, n, reported[round])
			}
		}
		if len(torn) > 0 {
			t.Errorf("got torn lines %q", torn)
		}
	}
}

func TestOutOfDescriptors(t *testing.T) {
	dir := t.TempDir()
	c := start(t, "run out of descriptors", childConfig{Path: filepath.Join(dir, "app.log"), MaxSize: 1000})
	rotations := c.number(t)
	must(t, c.cmd.Wait())
	checkNumbers(t, all(t, dir), 90)
	if rotations < 5 {
		t.Errorf("got %d rotations, want them taken up again", rotations)
	}
}
