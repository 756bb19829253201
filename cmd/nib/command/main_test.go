// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/cmd/nib/command"
	"github.com/nib-log/nib/sink/file"
	"github.com/nib-log/nib/sink/spool"
)

// asNib is a variable that makes the test binary act as nib.
const asNib = "NIB_TEST_AS_NIB"

// asService is a variable with a directory: the test binary logs to a file
// there, through a spool there, until it is killed.
const asService = "NIB_TEST_AS_SERVICE"

func serve(dir string) error {
	out, err := file.Open(filepath.Join(dir, "out.log"), file.Config{})
	if err != nil {
		return err
	}
	s, err := spool.Open(filepath.Join(dir, "spool"), out, spool.Config{
		Name: "file", OnFull: []spool.FullRule{{From: nib.LevelTrace, Do: spool.ActionBlock, Wait: time.Minute}},
	})
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		if err := s.WriteRecord(&nib.Record{Line: line(n)}); err != nil {
			return err
		}
		if _, err := fmt.Println(n); err != nil {
			return err
		}
	}
}

func TestMain(m *testing.M) {
	if dir := os.Getenv(asService); dir != "" {
		fmt.Fprintln(os.Stderr, serve(dir))
		os.Exit(1)
	}
	if dir := os.Getenv(asKeeper); dir != "" {
		fmt.Fprintln(os.Stderr, keepLines(dir))
		os.Exit(1)
	}
	if os.Getenv(asNib) != "" {
		os.Exit(command.Run(os.Args[1:], os.Stdout, os.Stderr))
	}
	for _, name := range []string{"CLICOLOR_FORCE", "NO_COLOR", "COLUMNS"} {
		_ = os.Unsetenv(name) // of the environment of the tests
	}
	_ = os.Setenv(asNib, "1") // for children; nothing else reads it
	os.Exit(m.Run())
}

// child returns the command for nib as a separate process.
func child(args ...string) *exec.Cmd { return exec.Command(os.Args[0], args...) }

// run runs a command line in this process.
func run(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = command.Run(args, &out, &err)
	return code, out.String(), err.String()
}

// want runs a command line that must succeed, and returns its output.
func want(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := run(args...)
	if code != 0 || stderr != "" {
		t.Fatalf("nib %s: got code %d\nstdout %s\nstderr %s", strings.Join(args, " "), code, stdout, stderr)
	}
	return stdout
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
