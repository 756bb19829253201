// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// These variables of TestGroup's processes hold the name of the pipe that they
// write to, and their task.
const (
	pipeVariable = "MUTATE_PIPE"
	roleVariable = "MUTATE_ROLE"
)

// TestGroup checks that the tests which execute has started end with their
// children, when the limit has passed, and when the tool is killed.
func TestGroup(t *testing.T) {
	switch os.Getenv(roleVariable) {
	case "tool":
		t.Setenv(roleVariable, "tests")
		_, err := (&pkg{}).execute(os.Args[0], 0, time.Minute, "^TestGroup$")
		t.Fatalf("got %v, want to be killed before", err)
	case "tests":
		t.Setenv(roleVariable, "child")
		if err := exec.Command(os.Args[0], "-test.run=^TestGroup$").Start(); err != nil {
			t.Fatal(err)
		}
		hang(t, "tests")
	case "child":
		hang(t, "child")
	default:
		t.Run("limit", groupEndsAtLimit)
		t.Run("killed", groupEndsWithTool)
	}
}

// hang holds the pipe open until the process is killed.
func hang(t *testing.T, name string) {
	pipe, err := os.OpenFile(os.Getenv(pipeVariable), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(pipe, name, flag.Lookup("test.timeout").Value)
	select {
	case <-t.Context().Done():
	case <-time.After(30 * time.Second):
	}
	fmt.Fprintln(pipe, name, "was not killed")
}

// newPipe returns a named pipe, for reading, and one end for writing: a read
// returns io.EOF when that one and those of all processes are closed.
func newPipe(t *testing.T) (lines *bufio.Reader, own *os.File) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	both, err := os.OpenFile(name, os.O_RDWR, 0) // to open one end does not wait for the other now
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	r, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if own, err = os.OpenFile(name, os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	t.Setenv(pipeVariable, name)
	return bufio.NewReader(r), own
}

func groupEndsAtLimit(t *testing.T) {
	lines, own := newPipe(t)
	t.Setenv(roleVariable, "tests")
	if _, err := (&pkg{}).execute(os.Args[0], 0, time.Second, "^TestGroup$"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want that the limit has passed", err)
	}
	own.Close()
	wantEnd(t, lines)
}

func groupEndsWithTool(t *testing.T) {
	lines, own := newPipe(t)
	tool := exec.Command(os.Args[0], "-test.run=^TestGroup$")
	tool.Env = append(os.Environ(), roleVariable+"=tool")
	if err := tool.Start(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, "tests") && line != "tests 1m10s\n" {
			t.Errorf("got %q, want that the tests end by themselves after the limit", line)
		}
	}
	own.Close()
	_ = tool.Process.Kill()
	_ = tool.Wait()
	wantEnd(t, lines)
}

// wantEnd checks that all processes end without being waited for.
func wantEnd(t *testing.T, lines *bufio.Reader) {
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Error(err)
	}
	if strings.Contains(string(rest), "not killed") {
		t.Errorf("got %q, want the process to be killed", rest)
	}
}
