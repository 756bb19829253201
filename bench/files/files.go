// SPDX-License-Identifier: Apache-2.0

// Package files compares ways to log to a file that is rotated: whole loggers
// with ten fields, the writers of files alone, and two processes that rotate
// one file at the same time. Scenarios is the table of the contests;
// cmd/nibbench runs them.
package files

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/nib-log/nib/bench"
	"github.com/nib-log/nib/bench/measure"
)

// Names of the contestants.
const (
	Nib         = "nib"
	NibBuffered = "nib-buffered"
	Zerolog     = "zerolog+lumberjack"
	Zap         = "zap+lumberjack"
	ZapBuffered = "zap-buffered+lumberjack"
	Phuslu      = "phuslu"
	PhusluAsync = "phuslu-async"
	Slog        = "slog"
	Logrus      = "logrus+lumberjack"

	Lumberjack = "lumberjack"
	ZapBuffer  = "zap-buffer+lumberjack" // the writer of ZapBuffered alone
	OSFile     = "os.File"               // never rotated: the time of the system itself
)

// Modules are the paths of the contestants that are modules.
var Modules = []struct{ Name, Path string }{
	{"zerolog", "github.com/rs/zerolog"},
	{"zap", "go.uber.org/zap"},
	{"phuslu", "github.com/phuslu/log"},
	{"logrus", "github.com/sirupsen/logrus"},
	{Lumberjack, "gopkg.in/natefinch/lumberjack.v2"},
}

const (
	mebibyte   = 1 << 20
	fileSize   = 16 // MiB until a file is rotated
	bufferSize = 64 << 10

	// PerFile is the number of lines of a file in the contest of rotation.
	PerFile = 1000
	// Lines is the number of lines in a round, the same for all contestants: some
	// have a fixed cost per round, which must not weigh more for those that are
	// slower.
	Lines = 10 * PerFile
)

// HoldsBack reports whether a contestant buffers lines and writes many of them
// at once.
func HoldsBack(name string) bool {
	return strings.Contains(name, "buffer") || strings.Contains(name, "async")
}

// A Scenario is one contest.
type Scenario struct {
	Name   string // name in results and for -run
	Title  string // name in tables
	Versus string // the contestant that ratios refer to
	// Goroutines that share the lines, 0 is 1.
	Goroutines int
	// MaxSize is the maximum size of a file in MiB, the only unit that all
	// contestants have.
	MaxSize int
	// Line is the line that the writers are given. If it is nil, the contestants
	// are loggers, which make the lines themselves.
	Line        []byte
	Contestants []Contestant
}

// A Contestant is one way to perform the operation of the scenario.
type Contestant struct {
	Name string
	// New opens the contestant's file. All files that it writes are in p.Dir.
	New func(p Place) (Run, error)
}

// A Place has the directory and the parameters of a contestant's files.
type Place struct {
	Dir     string
	MaxSize int // MiB
	Keep    int // number of old files
	Line    []byte
}

// Path returns the name of the log file.
func (p Place) Path() string { return filepath.Join(p.Dir, "app.log") }

// A Run is a contestant that is ready.
type Run struct {
	// Do writes n lines. Several goroutines may call it at once.
	Do func(n int)
	// Flush, if not nil, writes buffered lines. Start makes it a part of Do, so
	// that it is timed.
	Flush func()
	// Prepare, if not nil, is called before each Do and not timed.
	Prepare func(n int)
	// Check, if not nil, returns an error if lines were lost.
	Check func() error
	// Close ends the run.
	Close func() error
}

// Scenarios lists all contests in the order in which they run.
func Scenarios() []Scenario {
	return []Scenario{
		{Name: "FileFields", Title: "one goroutine", Versus: Zerolog, MaxSize: fileSize, Contestants: loggers},
		{Name: "FileFields8", Title: "8 goroutines", Versus: Zerolog, MaxSize: fileSize, Goroutines: 8, Contestants: loggers},
		{Name: "FileWrite", Title: "one goroutine", Versus: Lumberjack, MaxSize: fileSize, Line: usualLine, Contestants: writers},
		{Name: "FileWrite8", Title: "8 goroutines", Versus: Lumberjack, MaxSize: fileSize, Goroutines: 8, Line: usualLine, Contestants: writers},
		{Name: "FileRotate", Title: "a new file every 1,000 lines", Versus: Lumberjack, MaxSize: 1, Line: thousandth,
			Contestants: rotating()},
	}
}

// Start prepares a contestant for the scenario, in a new directory, which Close
// removes.
func (s *Scenario) Start(c *Contestant, keep int) (Run, Place, error) {
	dir, err := os.MkdirTemp("", "nibbench")
	if err != nil {
		return Run{}, Place{}, err
	}
	p := Place{Dir: dir, MaxSize: s.MaxSize, Keep: keep, Line: s.Line}
	run, err := c.New(p)
	if err != nil {
		return Run{}, p, errors.Join(err, os.RemoveAll(dir))
	}
	dismiss := func() {}
	if s.Goroutines > 1 {
		crew := measure.NewCrew(s.Goroutines, run.Do)
		run.Do, dismiss = crew.Do, crew.Close
	}
	if do, flush := run.Do, run.Flush; flush != nil {
		run.Do, run.Flush = func(n int) { do(n); flush() }, nil
	}
	end := run.Close
	run.Close = func() error {
		dismiss()
		return errors.Join(end(), removeAll(dir))
	}
	return run, p, nil
}

// removeAll removes dir, even while phuslu creates a link in it, on a goroutine
// whose end cannot be awaited.
func removeAll(dir string) (err error) {
	for range 100 {
		if err = os.RemoveAll(dir); err == nil {
			break
		}
		runtime.Gosched()
	}
	return err
}

// peer finds a library among the contestants of the calls.
func peer(name string) *bench.Peer {
	for _, p := range bench.Peers() {
		if p.Name == name {
			return p
		}
	}
	panic("files: no library " + name)
}
