// SPDX-License-Identifier: Apache-2.0

package tail

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/sink/file"
)

// patience is how long a test waits for an event that must happen.
const patience = 5 * time.Minute

// counts returns the number of runs and the number of lines of each run.
func counts() (runs, lines int) {
	if os.Getenv("NIB_E2E") == "full" {
		return 20, 1_000_000
	}
	return 1, 50_000
}

// command builds nib.
func command(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "nib")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", name, ".")
	build.Dir = filepath.Join("..", "..", "cmd", "nib")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the command: %v\n%s", err, out)
	}
	return name
}

// A tail is a process that follows a file.
type tail struct {
	cmd     *exec.Cmd
	waits   chan struct{} // closed when it waits for the file
	arrived chan struct{} // closed when it has written the last line
	ended   chan struct{} // receives at the end of each of its outputs

	// These are set when both outputs have ended.
	numbers []int
	damaged int
	reports []string
}

// start follows a file that does not exist yet, to which a number of lines are
// written.
func start(t *testing.T, nib, path string, lines int) *tail {
	t.Helper()
	f := &tail{
		cmd:   exec.CommandContext(t.Context(), nib, "tail", "-s", "-o", "raw", path),
		waits: make(chan struct{}), arrived: make(chan struct{}), ended: make(chan struct{}, 2),
	}
	stdout, err := f.cmd.StdoutPipe()
	must.Succeed(t, err)
	stderr, err := f.cmd.StderrPipe()
	if err == nil {
		err = f.cmd.Start()
	}
	must.Succeed(t, err)
	go func() {
		for r := bufio.NewScanner(stdout); r.Scan(); {
			n, ok := number(r.Bytes())
			if !ok {
				f.damaged++
				continue
			}
			if f.numbers = append(f.numbers, n); n == lines-1 {
				close(f.arrived)
			}
		}
		f.ended <- struct{}{}
	}()
	go func() {
		for r := bufio.NewScanner(stderr); r.Scan(); {
			if strings.Contains(r.Text(), "waiting for") {
				close(f.waits)
				continue
			}
			f.reports = append(f.reports, r.Text())
		}
		f.ended <- struct{}{}
	}()
	await(t, "nib tail waits for the file", f.waits)
	return f
}

// number returns the number in a whole line.
func number(line []byte) (n int, ok bool) {
	_, rest, _ := bytes.Cut(line, []byte(`"n":`))
	digits, rest, _ := bytes.Cut(rest, []byte(`,"message":`))
	n, err := strconv.Atoi(string(digits))
	return n, err == nil && line[0] == '{' && bytes.HasSuffix(rest, []byte("}"))
}

func await(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("timed out after %v waiting until %s", patience, what)
	}
}

// finish waits for the last line, ends the process, and checks what it wrote:
// the lines are in order, and each line is there or a loss is reported.
func (f *tail) finish(t *testing.T, lines int) {
	t.Helper()
	select {
	case <-f.arrived:
	case <-time.After(patience):
		t.Error("the last line has not arrived")
	}
	must.Succeed(t, f.cmd.Process.Signal(os.Interrupt))
	<-f.ended
	<-f.ended
	if _ = f.cmd.Wait(); f.cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("nib tail: %v, want exit code 130", f.cmd.ProcessState)
	}
	for i := 1; i < len(f.numbers); i++ {
		if f.numbers[i] <= f.numbers[i-1] {
			t.Fatalf("line %d is behind line %d", f.numbers[i], f.numbers[i-1])
		}
	}
	missing := lines - len(f.numbers)
	t.Logf("%d lines, %d missing, %d cut, %d reports", lines, missing, f.damaged, len(f.reports))
	for _, text := range f.reports[:min(len(f.reports), 3)] {
		t.Log(text)
	}
	if missing+f.damaged > 0 && len(f.reports) == 0 {
		t.Errorf("%d lines are missing and %d are cut, without a report", missing, f.damaged)
	}
}

// write logs the lines with the numbers in [from, to) at full speed.
func write(t *testing.T, path string, c file.Config, from, to int) {
	t.Helper()
	s, err := file.Open(path, c)
	must.Succeed(t, err)
	log := nib.NewSink(s)
	for n := from; n < to; n++ {
		log.Info().Str("path", "/api/orders").Int("status", 200).Int("n", n).Msg("request served")
	}
	must.Succeed(t, s.Close())
}

// A file that sink/file rotates is complete. If old files are deleted before
// they are read, that is reported.
func TestE2ETailOfAFileThatRotates(t *testing.T) {
	program := command(t)
	runs, lines := counts()
	for name, c := range map[string]file.Config{
		"1 MB":                  {MaxSize: 1 << 20},
		"10 MB":                 {MaxSize: 10 << 20},
		"1 MB and one old file": {MaxSize: 1 << 20, MaxBackups: 1},
	} {
		for range runs {
			t.Run(name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "app.log")
				f := start(t, program, path, lines)
				write(t, path, c, 0, lines)
				f.finish(t, lines)
				if c.MaxBackups == 0 && (len(f.numbers) < lines || len(f.reports) > 0) {
					t.Errorf("got %d lines of %d, %q", len(f.numbers), lines, f.reports)
				}
			})
		}
	}
}

// Logrotate copies and truncates the file while it is written, and loses the
// lines in between. The others arrive, or a loss is reported.
func TestE2ETailOfAFileThatIsTruncated(t *testing.T) {
	logrotate, err := exec.LookPath("logrotate")
	if err != nil {
		t.Skipf("logrotate is not installed: %v", err)
	}
	program := command(t)
	runs, lines := counts()
	for _, size := range []string{"1M", "10M"} {
		for range runs {
			t.Run(size, func(t *testing.T) { truncate(t, program, logrotate, size, lines) })
		}
	}
}

// truncate writes lines to a file that logrotate copies and truncates at a
// size.
func truncate(t *testing.T, program, logrotate, size string, lines int) {
	t.Helper()
	dir := t.TempDir()
	path, conf := filepath.Join(dir, "log", "app.log"), filepath.Join(dir, "conf")
	rules := fmt.Sprintf("%s {\n\trotate 1000\n\tsize %s\n\tmissingok\n\tcopytruncate\n}\n",
		path, size)
	for _, err := range []error{
		os.Chmod(dir, 0o700), os.Mkdir(filepath.Dir(path), 0o700),
		os.WriteFile(conf, []byte(rules), 0o600),
	} {
		must.Succeed(t, err)
	}
	f := start(t, program, path, lines)
	written, rotated := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(rotated)
		for isWritten := false; !isWritten; {
			select {
			case <-written:
				isWritten = true
			default:
			}
			run := exec.Command(logrotate, "--state", filepath.Join(dir, "state"), conf)
			if out, err := run.CombinedOutput(); err != nil {
				t.Errorf("logrotate: %v\n%s", err, out)
				return
			}
		}
	}()
	write(t, path, file.Config{}, 0, lines-1)
	close(written)
	<-rotated
	write(t, path, file.Config{}, lines-1, lines) // which logrotate cannot lose
	f.finish(t, lines)
	kept, unseen := linesOf(t, path), 0
	for _, n := range kept {
		if _, isSeen := slices.BinarySearch(f.numbers, n); !isSeen {
			unseen++
		}
	}
	t.Logf("the files have %d lines, %d of them were not shown", len(kept), unseen)
}

// linesOf returns the numbers of the whole lines in a file and its copies.
func linesOf(t *testing.T, path string) (numbers []int) {
	t.Helper()
	names, err := filepath.Glob(path + "*")
	must.Succeed(t, err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		must.Succeed(t, err)
		for line := range bytes.Lines(text) {
			if n, ok := number(bytes.TrimSuffix(line, []byte("\n"))); ok {
				numbers = append(numbers, n)
			}
		}
	}
	return numbers
}
