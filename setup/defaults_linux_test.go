// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/internal/stdio/stdiotest"
	"github.com/nib-log/nib/nibslog"
	"github.com/nib-log/nib/sink/stdout"
)

// With all defaults, a service survives whatever happens to its standard output
// and standard error: each way to get a logger × each state of the one × each
// state of the other, in a separate process. It continues, no call takes longer
// than documented, and undelivered lines are counted.

// A streamState is the state of standard output or standard error.
type streamState string

const (
	isRead         streamState = "live"
	stopped        streamState = "stopped"          // a pipe whose reader does not read
	gone           streamState = "gone"             // a pipe without a reader
	closedBefore   streamState = "closed before"    // as by >&- of a shell
	closedByItself streamState = "closed by itself" // by os.Stdout.Close
	fullDisk       streamState = "full disk"
)

var streamStates = []streamState{isRead, stopped, gone, closedBefore, closedByItself, fullDisk}

const (
	loggerVar = "NIB_SETUP_TEST_LOGGER"
	closeVar  = "NIB_SETUP_TEST_CLOSE"

	// callLimit is the documented time of a call: 100 ms for standard output,
	// and as much for the report of an error.
	callLimit = 200 * time.Millisecond

	callers, callsEach = 4, 100
)

func init() { roles["live on"] = liveOn }

// A defaultLogger is a way to get a logger.
type defaultLogger struct {
	name   string
	stderr bool // its lines go to standard error
	file   bool // and to a file
	open   func(dir string) (log func(n int), dropped func() uint64, end func())
}

var defaultLoggers = []defaultLogger{
	{"nib.New", false, false, func(string) (func(int), func() uint64, func()) {
		return ofLogger(nib.New(os.Stdout), nil)
	}},
	{"stdout.New", false, false, func(string) (func(int), func() uint64, func()) {
		s := stdout.New(stdout.Config{})
		log, _, end := ofLogger(nib.NewSink(s), s.Close)
		return log, func() uint64 { return s.Stats().Lost() }, end
	}},
	{"setup", false, false, func(string) (func(int), func() uint64, func()) {
		return ofSetup(Config{})
	}},
	{"setup with a file", false, true, func(dir string) (func(int), func() uint64, func()) {
		return ofSetup(Config{Output: []string{"stdout", "file:" + filepath.Join(dir, "log")}})
	}},
	{"setup with a spool", false, true, func(dir string) (func(int), func() uint64, func()) {
		return ofSetup(Config{Output: []string{"stdout", "file:" + filepath.Join(dir, "log") + "?spool=" + filepath.Join(dir, "spool")}})
	}},
	{"nibslog", false, false, func(string) (func(int), func() uint64, func()) {
		h := nibslog.NewJSONHandler(os.Stdout, nil)
		l := slog.New(h)
		return func(n int) { l.Info("line", "n", n, "pad", pad) }, func() uint64 { return h.Stats().Failed }, func() {}
	}},
	{"package-level functions", true, false, func(string) (func(int), func() uint64, func()) {
		_, dropped, end := ofLogger(nib.Default(), nil)
		return func(n int) { nib.Info().Int("n", n).Str("pad", pad).Msg("line") }, dropped, end
	}},
}

// pad makes the lines long enough for all of them to fill a pipe.
var pad = strings.Repeat("0123456789", 40)

func ofLogger(l *nib.Logger, end func() error) (func(int), func() uint64, func()) {
	return func(n int) { l.Info().Int("n", n).Str("pad", pad).Msg("line") },
		func() uint64 { return l.Stats().Failed },
		func() {
			if end != nil {
				_ = end()
			}
		}
}

func ofSetup(c Config) (func(int), func() uint64, func()) {
	l, err := Open(c)
	if err != nil {
		panic(err)
	}
	return ofLogger(l.Logger, l.Close)
}

// A lifeReport has the results of such a process.
type lifeReport struct {
	Logged, Dropped uint64
	Longest         time.Duration // call
	Late            time.Duration // the greatest delay of a goroutine that only sleeps, which is due to the machine
}

// liveOn is the process. It logs, and now and then reports an error to standard
// error, as a library does.
func liveOn(Config) {
	report := os.NewFile(3, "report")
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if strings.Contains(os.Getenv(closeVar), f.Name()) {
			_ = f.Close()
		}
	}
	if os.Getenv(loggerVar) == "fmt" {
		fmt.Println("line")
	}
	i := slices.IndexFunc(defaultLoggers, func(l defaultLogger) bool { return l.name == os.Getenv(loggerVar) })
	log, dropped, end := defaultLoggers[i].open(os.Getenv("TMPDIR"))
	var broken recordtest.Recorder
	broken.FailWith(errors.New("it fails always"))
	failing := nib.NewSink(&broken)
	var logged, longest, late atomic.Int64
	var wg sync.WaitGroup
	done := make(chan struct{})
	go func() {
		for {
			from := time.Now()
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
				raiseTo(&late, time.Since(from)-time.Millisecond)
			}
		}
	}()
	for range callers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for call := range callsEach {
				from := time.Now()
				log(int(logged.Add(1)))
				raiseTo(&longest, time.Since(from))
				if call%20 == 0 {
					from = time.Now()
					failing.Info().Msg("")
					raiseTo(&longest, time.Since(from))
				}
			}
		}()
	}
	wg.Wait()
	close(done)
	end()
	r := lifeReport{uint64(logged.Load()), dropped(), time.Duration(longest.Load()), time.Duration(late.Load())}
	if err := json.NewEncoder(report).Encode(r); err != nil {
		os.Exit(103)
	}
}

func raiseTo(most *atomic.Int64, d time.Duration) {
	for old := most.Load(); int64(d) > old && !most.CompareAndSwap(old, int64(d)); old = most.Load() {
	}
}

// A stream is standard output or standard error of such a process.
type stream struct {
	state streamState
	w     *os.File // nil: closed
	r     *os.File // nil: none
	text  chan []byte
}

// newStream makes a stream. The pipe of a stopped one is filled if full is set.
func newStream(t *testing.T, state streamState, full bool) *stream {
	t.Helper()
	s := &stream{state: state, text: make(chan []byte, 1)}
	switch state {
	case fullDisk:
		f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skipf("no /dev/full here: %v", err)
		}
		s.w = f
		s.text <- nil
		return s
	case closedBefore:
		s.text <- nil
		return s
	}
	r, w, err := os.Pipe()
	must.Succeed(t, err)
	s.r, s.w = r, w
	if state == gone {
		r.Close()
		s.r = nil
		s.text <- nil
		for err == nil { // a process that another case starts has the other end until its exec is done
			_, err = w.Write([]byte{'\n'})
		}
	}
	if state == stopped && full {
		stdiotest.Fill(t, w)
	}
	w.Fd() // a process finds a pipe in blocking mode
	if s.r != nil && state != stopped {
		s.read()
	}
	return s
}

// read reads all.
func (s *stream) read() {
	go func() {
		text, _ := io.ReadAll(s.r)
		s.r.Close()
		s.text <- text
	}()
}

// delivered closes the stream, and counts the lines that it had.
func (s *stream) delivered() (lines uint64) {
	if s.w != nil {
		s.w.Close()
	}
	if s.state == stopped {
		s.read()
	}
	return countLines(<-s.text)
}

func countLines(text []byte) (lines uint64) {
	for line := range bytes.Lines(text) {
		var v struct {
			N int `json:"n"`
		}
		if json.Unmarshal(line, &v) == nil && v.N > 0 {
			lines++
		}
	}
	return lines
}

// liveWith runs a process and returns its fault; slow means that only a call,
// or Close, took too long.
func liveWith(t *testing.T, l *defaultLogger, out, err *stream) (fault string, slow bool) {
	t.Helper()
	dir := t.TempDir()
	report, e := os.Create(filepath.Join(dir, "report"))
	if e != nil {
		t.Fatal(e)
	}
	defer report.Close()
	var shut, byItself []string
	cmd := exec.Command(os.Args[0])
	for _, s := range []struct {
		*stream
		to          *io.Writer
		name, shell string
	}{{out, &cmd.Stdout, "/dev/stdout", ">&-"}, {err, &cmd.Stderr, "/dev/stderr", "2>&-"}} {
		switch {
		case s.state == closedBefore:
			shut = append(shut, s.shell)
		default:
			*s.to = s.w
		}
		if s.state == closedByItself {
			byItself = append(byItself, s.name)
		}
	}
	if shut != nil {
		throughShell(t, `exec "$0" `+strings.Join(shut, " "))(cmd)
	}
	cmd.ExtraFiles = []*os.File{report}
	cmd.Env = append(os.Environ(), roleVar+"=live on", configVar+"={}", loggerVar+"="+l.name,
		closeVar+"="+strings.Join(byItself, " "), "TMPDIR="+dir, "GORACE=atexit_sleep_ms=0")
	if e := cmd.Start(); e != nil {
		t.Fatal(e)
	}
	hung := time.AfterFunc(lifeTime, func() { _ = cmd.Process.Kill() })
	e = cmd.Wait()
	hung.Stop()
	delivered := out.delivered()
	if err != out {
		if n := err.delivered(); l.stderr {
			delivered = n
		}
	}
	if e != nil {
		return fmt.Sprintf("it ended with %v", e), false
	}
	var r lifeReport
	text, e := os.ReadFile(report.Name())
	if e == nil {
		e = json.Unmarshal(text, &r)
	}
	if e != nil {
		return fmt.Sprintf("it left no report: %v", e), false
	}
	return judge(l, r, delivered, out, err, dir)
}

// lifeTime is the time after which a process counts as hanging.
var lifeTime = time.Minute

func judge(l *defaultLogger, r lifeReport, delivered uint64, out, err *stream, dir string) (fault string, slow bool) {
	to := out
	if l.stderr {
		to = err
	}
	sum := delivered + r.Dropped
	if to.state == closedBefore { // the runtime opens /dev/null in its place, where no loss can be counted
		sum = r.Logged - r.Dropped
	}
	switch {
	case r.Logged != callers*callsEach || sum != r.Logged:
		return fmt.Sprintf("%d lines are delivered and %d counted as dropped, of %d", delivered, r.Dropped, r.Logged), false
	case to.state == isRead && r.Dropped != 0:
		return fmt.Sprintf("%d lines are dropped, want none", r.Dropped), true
	case (to.state == stopped || to.state == gone || to.state == closedByItself || to.state == fullDisk) && r.Dropped == 0:
		return "no line is dropped: the test tests nothing", false
	}
	if l.file {
		text, e := os.ReadFile(filepath.Join(dir, "log"))
		if n := countLines(text); n != r.Logged {
			return fmt.Sprintf("the file has %d lines of %d (%v)", n, r.Logged, e), true // its disk may be slow
		}
	}
	if most := callLimit + r.Late + 50*time.Millisecond; r.Longest > most {
		return fmt.Sprintf("a call took %v, want at most %v, including %v by which the machine was late", r.Longest, most, r.Late), true
	}
	return "", false
}

// TestDefaultsSurviveTheirStreams runs all cases, or with -short a few. A call
// that takes too long does so each time, as does a stream that takes no lines
// though it is read; a call that only lacked a processor does not.
func TestDefaultsSurviveTheirStreams(t *testing.T) {
	var cases atomic.Int64
	const tries = 20
	selected := seed.Sample(t, 3, 6)
	slots := make(chan struct{}, 4) // the processes wait most of the time
	check := func(l *defaultLogger, name string, streams func() (out, err *stream)) {
		cases.Add(1)
		t.Run(l.name+"/"+name, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			for try := 1; ; try++ {
				out, err := streams()
				fault, slow := liveWith(t, l, out, err)
				if slow && try < tries {
					continue
				}
				if fault != "" {
					t.Error(fault)
				}
				return
			}
		})
	}
	for i := range defaultLoggers {
		l := &defaultLoggers[i]
		for _, out := range streamStates {
			for _, err := range streamStates {
				if !selected() {
					continue
				}
				check(l, fmt.Sprintf("output %s, error %s", out, err), func() (*stream, *stream) {
					return newStream(t, out, false), newStream(t, err, !l.stderr)
				})
			}
		}
		for _, both := range []streamState{isRead, stopped, gone} {
			check(l, fmt.Sprintf("both one pipe, %s", both), func() (*stream, *stream) {
				s := newStream(t, both, false)
				return s, s
			})
		}
	}
	t.Logf("%d cases", cases.Load())
}

// TestKilledBySIGPIPEIsAFault checks that the test above fails for a process
// that writes to a pipe without a reader as package fmt does.
func TestKilledBySIGPIPEIsAFault(t *testing.T) {
	l := &defaultLogger{name: "fmt"}
	fault, _ := liveWith(t, l, newStream(t, gone, false), newStream(t, isRead, false))
	if !strings.Contains(fault, syscall.SIGPIPE.String()) {
		t.Errorf("got %q, want a fault that names %v", fault, syscall.SIGPIPE)
	}
}
