// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/nib-log/nib/cmd/nib/command"
)

func TestRun(t *testing.T) {
	for _, c := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"version"}, 0, "nib ", ""},
		{[]string{"--version"}, 0, "nib ", ""},
		{[]string{"allocs", "--version"}, 0, "allocs ", ""},
		{[]string{"help"}, 0, "relay ", ""},
		{[]string{"allocs", "--help"}, 0, "--baseline", ""},
		{[]string{"allocs", "-C", "/nowhere"}, 2, "", "nib: "},
		{[]string{"allocs", "--nonsense"}, 2, "", "nib: unknown flag: --nonsense\n"},
		{nil, 0, "Available Commands", ""},
		{[]string{"nonsense"}, 1, "", "nib: unknown command \"nonsense\" for \"nib\"; see nib --help\n"},
		{[]string{"catt"}, 1, "", "nib: unknown command \"catt\" for \"nib\"; did you mean cat?\n"},
		{[]string{"spool", "verfy", "."}, 1, "", "nib: unknown command \"verfy\" for \"nib spool\"; did you mean verify?\n"},
		{[]string{"help", "nonsense"}, 1, "", "nib: unknown command \"nonsense\" for \"nib\"; see nib --help\n"},
		{[]string{"help", "spool", "ls"}, 0, "nib spool ls", ""},
	} {
		var stdout, stderr bytes.Buffer
		code := command.Run(c.args, &stdout, &stderr)
		if code != c.code || !strings.Contains(stdout.String(), c.stdout) || !strings.Contains(stderr.String(), c.stderr) {
			t.Errorf("nib %s: got code %d\nstdout %s\nstderr %s", strings.Join(c.args, " "), code, &stdout, &stderr)
		}
		if code == 0 && stderr.Len() > 0 {
			t.Errorf("nib %s: stderr has %s", strings.Join(c.args, " "), &stderr)
		}
	}
}

func TestErrorsOfTheGoCommandAreLines(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	dir := t.TempDir()
	store(t, dir, "go.mod", "module example.com/m", "go 1.24", "")
	store(t, dir, "m.go", "package m", `func F() int { return "\x1b" }`, `func G() int { return "y" }`, "")
	code, _, stderr := run("allocs", "--plain", "-C", dir)
	if code != 2 || strings.Count(stderr, "\nnib: ./m.go:") != 2 {
		t.Errorf("got code %d and %q", code, stderr)
	}
}
