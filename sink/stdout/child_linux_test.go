// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/stdio/stdiotest"
)

// Tests start this binary as a service, configured by the environment. Its
// standard output is the pipe of the test, it reports on descriptor 3, and it
// proceeds on input from standard input.
const (
	childVar = "NIB_STDOUT_CHILD"
	stallVar = "NIB_STDOUT_STALL"
	runVar   = "NIB_STDOUT_RUN"
)

func TestMain(m *testing.M) {
	role := os.Getenv(childVar)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := children[role](); err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(1)
	}
	os.Exit(0)
}

var children = map[string]func() error{
	"log to the sink":     func() error { return logAndReport(nib.NewSink(New(Config{Stall: never}))) },
	"log to an os.File":   func() error { return logAndReport(nib.New(os.Stdout)) },
	"outlive the reader":  func() error { return outlive(0) },
	"outlive, buffered":   func() error { return outlive(4096) },
	"be stalled":          func() error { return beStalled(0) },
	"be stalled buffered": func() error { return beStalled(64 << 10) },
}

// A child is a service that a test has started.
type child struct {
	cmd     *exec.Cmd
	out     *os.File // the pipe of its standard output
	shared  *os.File // the test's end of that pipe, with the same file description
	reports *bufio.Reader
	goOn    io.WriteCloser
}

func start(t *testing.T, role string, env ...string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0])}
	out, w := stdiotest.Pipe(t)
	reports, reportsEnd := stdiotest.Pipe(t)
	c.out, c.shared, c.reports = out, w, bufio.NewReader(reports)
	c.cmd.Env = append(append(os.Environ(), childVar+"="+role), env...)
	c.cmd.Stdout, c.cmd.Stderr, c.cmd.ExtraFiles = w, os.Stderr, []*os.File{reportsEnd}
	var err error
	if c.goOn, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, c.cmd.Start())
	reportsEnd.Close()
	t.Cleanup(func() {
		if c.cmd.ProcessState == nil {
			_ = c.cmd.Process.Kill()
			_ = c.cmd.Wait()
		}
	})
	return c
}

// report waits for the next report of the child.
func (c *child) report(t *testing.T) string {
	t.Helper()
	line, err := c.reports.ReadString('\n')
	if err != nil {
		t.Fatalf("waiting for a report: %v", err)
	}
	return line[:len(line)-1]
}

// logAndReport logs numbers without end and reports each when the call has
// returned.
func logAndReport(l *nib.Logger) error {
	reports := os.NewFile(3, "reports")
	for i := 0; ; i++ {
		l.Info().Int("n", i).Msg("line")
		if _, err := reports.WriteString(strconv.Itoa(i) + "\n"); err != nil {
			return err
		}
	}
}

// outlive logs, waits until the reader is gone, continues to log, and reports
// the counts of the lines.
func outlive(buffer int) error {
	s := New(Config{Buffer: buffer})
	var failed atomic.Int64
	l := nib.NewSink(s, nib.WithErrorHandler(func(error) { failed.Add(1) }))
	l.Info().Int("n", 0).Msg("line")
	reports := os.NewFile(3, "reports")
	fmt.Fprintln(reports, "logged")
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		return err
	}
	for i := range 999 {
		l.Info().Int("n", i+1).Msg("line")
	}
	_ = s.Close()
	st := s.Stats()
	_, err := fmt.Fprintf(reports, "lines %d, gone %d, of 1000; reported %v\n",
		st.Lines, count(st, delivery.ReasonGone, nib.LevelInfo), failed.Load() > 0)
	return err
}

// A stallReport has the results of a child whose reader had stopped.
type stallReport struct {
	Logged  int
	Stats   Stats
	Calls   int           // while the reader had stopped
	Longest time.Duration // of all calls
	Late    time.Duration // maximum lateness of an idle goroutine, caused by the machine
}

// beStalled logs for a while with a stopped reader, then reports that, and
// continues to log until the reader has resumed.
func beStalled(buffer int) error {
	stall, err := time.ParseDuration(os.Getenv(stallVar))
	if err != nil {
		return err
	}
	run, err := time.ParseDuration(os.Getenv(runVar))
	if err != nil {
		return err
	}
	s := New(Config{Stall: stall, Buffer: buffer})
	l := nib.NewSink(s, nib.WithErrorHandler(func(error) {}))
	reports := os.NewFile(3, "reports")

	var logged, longest, late atomic.Int64
	log := func() {
		n := logged.Add(1) - 1
		from := time.Now()
		l.Info().Int64("n", n).Str("pad", "0123456789012345678901234567890123456789").Msg("line")
		raise(&longest, time.Since(from))
	}
	var callers sync.WaitGroup
	every := func(d time.Duration, do func(late time.Duration)) {
		callers.Add(1)
		go func() {
			defer callers.Done()
			tick := time.NewTicker(d)
			defer tick.Stop()
			for from := time.Now(); time.Since(from) < run || s.Stats().Lost() == 0; {
				before := time.Now()
				<-tick.C
				do(time.Since(before) - d)
			}
		}()
	}
	for range 8 {
		every(200*time.Microsecond, func(time.Duration) { log() })
	}
	every(time.Millisecond, func(d time.Duration) { raise(&late, d) })
	callers.Wait()
	rep := stallReport{Calls: int(logged.Load())}
	fmt.Fprintln(reports, "stalled")
	for s.Stats().Notices == 0 {
		log()
	}
	for range 100 {
		log()
	}
	logUntilTold(s, log)
	_ = s.Close()
	rep.Logged, rep.Stats = int(logged.Load()), s.Stats()
	rep.Longest, rep.Late = time.Duration(longest.Load()), time.Duration(late.Load())
	text, err := json.Marshal(rep)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(reports, "%s\n", text)
	return errors.Join(err, os.Stdout.Close())
}

// logUntilTold logs until every loss has been reported to the reader: it may
// have stalled once more.
func logUntilTold(s *Sink, log func()) {
	for reported := false; !reported; {
		lost := s.Stats().Lost()
		log()
		reported = s.Flush(context.Background()) == nil && s.Stats().Lost() == lost
	}
}

// raise sets most to the larger of itself and d.
func raise(most *atomic.Int64, d time.Duration) {
	for old := most.Load(); int64(d) > old && !most.CompareAndSwap(old, int64(d)); old = most.Load() {
	}
}
