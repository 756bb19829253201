// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// packed is the failure on a release whose runtime packs small objects.
const packed = "objects below 16 bytes cannot be counted one by one on this release"

// restarts is the number of times that a benchmark is run again without those
// of its sub-benchmarks that ended the process.
const restarts = 50

// record is a line of a process's output.
type record struct {
	Start  string
	End    string
	Once   string // one iteration has run
	Result *Result
}

// unit measures one benchmark with all its sub-benchmarks. It always returns at
// least one result.
func (b *Binary) unit(ctx context.Context, o Options, name string) []Result {
	var out []Result
	var leftOut []string
	for range restarts {
		records, ended := b.process(ctx, o, name, leftOut)
		open, complete := "", false
		for _, r := range records {
			switch {
			case r.Once != "":
			case r.Result != nil:
				if r.Result.Slow {
					r.Result.Failed = o.tooSlow().Error()
				}
				if r.Result.Inexact {
					r.Result.Failed = packed
				}
				r.Result.settle()
				out = append(out, *r.Result)
				leftOut = append(leftOut, r.Result.Name)
				complete = complete || r.Result.Name == name
				if open == r.Result.Name {
					open = ""
				}
			case r.End != "":
				complete = complete || r.End == name
				if open == r.End {
					open = ""
				}
			default:
				open = r.Start
			}
		}
		if complete && open == "" {
			break
		}
		if open == "" {
			open = name // the process ended between two sub-benchmarks, or before the first
		}
		why := ended.Error()
		if len(records) == 0 {
			why = "it was not run: " + why
		}
		slow := errors.As(ended, new(*tooSlow))
		out = append(out, Result{Name: open, Failed: why, Slow: slow})
		leftOut = append(leftOut, open)
		if open == name || ctx.Err() != nil {
			break
		}
	}
	return out
}

// errEnded indicates that a process has ended before its work was done, without
// an error.
var errEnded = errors.New(
	"the process ended before the benchmark did (os.Exit, or a TestMain that does not call m.Run)")

// process runs a benchmark in a separate process. The error describes
// how the process ended.
func (b *Binary) process(
	ctx context.Context, o Options, name string, leftOut []string,
) ([]record, error) {
	out := b.Path + ".out"
	if err := os.Remove(out); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	skipped, err := json.Marshal(leftOut)
	if err != nil {
		return nil, err
	}
	env := append(b.tc.Env(),
		environment.Out+"="+out, environment.LeftOut+"="+string(skipped),
		fmt.Sprintf("%s=%d", environment.Budget, o.Budget.Nanoseconds()),
		// The collector stays off in between, because it empties pools; the limit
		// keeps a benchmark that allocates heavily from exhausting memory. Go 1.26
		// ends the process at a stack of 1024 frames, the most there can be.
		"GODEBUG="+strings.Trim(os.Getenv("GODEBUG")+",memprofilerate=1,profstackdepth=1000", ","), "GOGC=off", "GOMEMLIMIT=2GiB", "GOMAXPROCS=1")
	err = b.execute(ctx, b.Path, env, watching{out, o.give(), o.tooSlow()}, arguments(name)...)
	records, broken := decode(out)
	if err == nil {
		err = broken
	}
	if err == nil {
		err = errEnded
	}
	return records, err
}

// arguments make the test binary run the benchmarks whose name matches.
func arguments(name string) []string {
	return []string{"-test.run=^$", "-test.bench=^" + name + "$", "-test.benchtime=1x",
		"-test.cpu=1", "-test.count=1", "-test.timeout=0"}
}

// execute runs a test binary, and ends it for the reasons of w.
func (b *Binary) execute(
	ctx context.Context, path string, env []string, w watching, args ...string,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	log := path + ".inputs"
	defer b.note(log)
	cmd := exec.CommandContext(ctx, path, append(args, "-test.testlogfile="+log)...)
	cmd.Dir = b.Package.Dir
	cmd.WaitDelay = time.Second
	cmd.Env = env
	text := &last{limit: 1 << 18}
	cmd.Stdout, cmd.Stderr = text, text
	err := cmd.Start()
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	var watched sync.WaitGroup
	watched.Go(func() { w.watch(cmd.Process.Pid, ended, cancel) })
	err = cmd.Wait()
	close(ended)
	watched.Wait()
	if err == nil {
		return nil
	}
	if why := context.Cause(ctx); why != nil {
		return why
	}
	return fmt.Errorf("%w\n%s", err, essence(text.String()))
}

func decode(name string) ([]record, error) {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []record
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return out, nil // a line that is cut off was not finished
		}
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			return out, err
		}
		out = append(out, r)
	}
}

// settle rounds counts that differ from a whole number by a single object,
// which something else has allocated. Where set-up varies by more than the
// operations allocate, the difference of two windows can be negative.
func (r *Result) settle() {
	r.PerOp, r.Bytes = max(r.PerOp, 0), max(r.Bytes, 0)
	for i := range r.Sites {
		s := &r.Sites[i]
		s.PerOp, s.Bytes = max(s.PerOp, 0), max(s.Bytes, 0)
	}
	if r.N < 16 {
		return
	}
	near := min(1.5/float64(r.N), 0.1)
	for i := range r.Sites {
		s := &r.Sites[i]
		if whole := math.Round(s.PerOp); whole >= 1 && math.Abs(s.PerOp-whole) <= near {
			s.PerOp, s.Bytes = whole, math.Round(s.Bytes)
		}
	}
}

// essence returns the final output of a program: the panic or the fatal error,
// or the last lines.
func essence(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return strings.Join(lines[i:min(len(lines), i+12)], "\n")
		}
	}
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}

// last keeps the last bytes that are written to it.
type last struct {
	b     bytes.Buffer
	limit int
}

func (l *last) Write(p []byte) (int, error) {
	l.b.Write(p)
	if extra := l.b.Len() - l.limit; extra > l.limit {
		l.b.Next(extra)
	}
	return len(p), nil
}

func (l *last) String() string { return l.b.String() }
