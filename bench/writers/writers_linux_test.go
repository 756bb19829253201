// SPDX-License-Identifier: Apache-2.0

package writers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/stdio/stdiotest"
)

// A process is a service that a test has started.
type process struct {
	cmd     *exec.Cmd
	out     *os.File // its standard output
	errs    *os.File // its standard error
	reports *bufio.Reader
	proceed io.Writer
}

func start(t *testing.T, l library, fault, path string) *process {
	t.Helper()
	c := &process{cmd: exec.Command(os.Args[0])}
	out, outEnd := stdiotest.Pipe(t)
	errs, errsEnd := stdiotest.Pipe(t)
	reports, reportsEnd := stdiotest.Pipe(t)
	c.out, c.errs, c.reports = out, errs, bufio.NewReader(reports)
	c.cmd.Env = append(os.Environ(), faultVar+"="+fault, loggerVar+"="+l.Name, pathVar+"="+path)
	c.cmd.Stdout, c.cmd.Stderr, c.cmd.ExtraFiles = outEnd, errsEnd, []*os.File{reportsEnd}
	var err error
	if c.proceed, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{outEnd, errsEnd, reportsEnd} {
		f.Close()
	}
	t.Cleanup(func() {
		if c.cmd.ProcessState == nil {
			_ = c.cmd.Process.Kill()
			_ = c.cmd.Wait()
		}
	})
	return c
}

// expect waits for a report.
func (c *process) expect(t *testing.T, want string) {
	t.Helper()
	if got, err := c.reports.ReadString('\n'); err != nil || got != want+"\n" {
		rest, _ := io.ReadAll(c.reports)
		t.Fatalf("got report %q and %v, want %q\n%s", got, err, want, rest)
	}
}

// finish waits for the end of the service, and returns its counts.
func (c *process) finish(t *testing.T) (got counts) {
	t.Helper()
	text, err := io.ReadAll(c.reports)
	if err := errors.Join(err, json.Unmarshal(text, &got)); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if err := c.cmd.Wait(); err != nil {
		t.Fatalf("the service ended with %v", err)
	}
	return got
}

// each runs a test with each library.
func each(t *testing.T, test func(t *testing.T, l library)) {
	for _, l := range libraries {
		t.Run(l.Name, func(t *testing.T) { test(t, l) })
	}
}

// The reader of standard output and standard error stops, and reads on when
// lines were lost.
func TestReaderStops(t *testing.T) {
	each(t, func(t *testing.T, l library) {
		c := start(t, l, "stopped", "")
		c.expect(t, "lost")
		text := readAll(t, c.out)
		check(t, l, c.finish(t), text, delivery.ReasonStalled)
	})
}

// The reader of standard output takes less than is logged; nothing reads
// standard error.
func TestReaderIsSlow(t *testing.T) {
	each(t, func(t *testing.T, l library) {
		c := start(t, l, "slow", "")
		c.expect(t, "ready")
		if _, err := c.proceed.Write([]byte{'\n'}); err != nil {
			t.Fatal(err)
		}
		var text []byte
		for chunk := make([]byte, 4<<10); ; {
			report, err := c.reports.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if report != "tick\n" {
				break
			}
			n, err := c.out.Read(chunk)
			if err != nil && err != io.EOF { // the service may have ended
				t.Fatal(err)
			}
			text = append(text, chunk[:n]...)
		}
		text = append(text, readAll(t, c.out)...)
		check(t, l, c.finish(t), text, delivery.ReasonStalled)
	})
}

// The reader of standard output and standard error ends.
func TestReaderIsGone(t *testing.T) {
	each(t, func(t *testing.T, l library) {
		c := start(t, l, "gone", "")
		c.expect(t, "ready")
		c.out.Close()
		c.errs.Close()
		if _, err := c.proceed.Write([]byte{'\n'}); err != nil {
			t.Fatal(err)
		}
		c.expect(t, "lost")
		got := c.finish(t)
		want := counts{someLost + 1, 1, someLost, 0, delivery.ReasonGone}
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

// The log file must not grow until lines were lost; nothing reads standard
// error.
func TestFileIsLimited(t *testing.T) {
	each(t, func(t *testing.T, l library) {
		toFile(t, l, "limited", t.TempDir(), delivery.ReasonFailed)
	})
}

// No space is left on the disk until lines were lost; nothing reads standard
// error.
func TestDiskIsFull(t *testing.T) {
	each(t, func(t *testing.T, l library) {
		dir := t.TempDir()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
			t.Skipf("cannot mount a tmpfs: %v", err)
		}
		t.Cleanup(func() {
			if err := syscall.Unmount(dir, 0); err != nil {
				t.Error(err)
			}
		})
		err := os.WriteFile(filepath.Join(dir, ballast), make([]byte, 1000<<10), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		toFile(t, l, "full", dir, delivery.ReasonFull)
	})
}

// toFile runs a service that logs to a file in dir.
func toFile(t *testing.T, l library, fault, dir string, why delivery.Reason) {
	path := filepath.Join(dir, "app.log")
	c := start(t, l, fault, path)
	c.expect(t, "lost")
	got := c.finish(t)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check(t, l, got, text, why)
}

// readAll reads r to its end.
func readAll(t *testing.T, r io.Reader) []byte {
	t.Helper()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// check checks that each line is in text or counted as lost, and that each
// loss is announced in the layout of the logger.
func check(t *testing.T, l library, got counts, text []byte, why delivery.Reason) {
	t.Helper()
	if got.Logged != got.Lines+got.Lost || got.Reason != why {
		t.Errorf("got %+v, want logged = lines + lost, for the reason %s", got, why)
	}
	message := l.Layout.MessageKey
	if message == "" {
		message = "message"
	}
	var lines, notices, announced uint64
	torn := 0
	for line := range bytes.Lines(text) {
		var notice struct{ Dropped uint64 }
		switch {
		case bytes.Contains(line, []byte(`"dropped":`)):
			if err := json.Unmarshal(line, &notice); err != nil {
				t.Error(err)
			}
			if !strings.Contains(string(line), `"`+message+`":"lines lost: `) {
				t.Errorf("the notice has no %s: %s", message, line)
			}
			notices++
			announced += notice.Dropped
		case l.Name != "log" && !json.Valid(line), !bytes.Contains(line, []byte(pad)):
			torn++ // by a write that the system has cut short
			if torn > 1 || why == delivery.ReasonStalled {
				t.Errorf("not a whole line: %q", line)
			}
		default:
			lines++
		}
	}
	if lines != got.Lines || notices != got.Notices || announced != got.Lost {
		t.Errorf("the reader got %d lines, and %d notices of %d lost lines, want %+v",
			lines, notices, announced, got)
	}
}
