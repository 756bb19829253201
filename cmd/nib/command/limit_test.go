// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"fmt"
	"strings"
	"testing"
)

// The output is bounded, and what is left out is counted.
func TestLittleIsShown(t *testing.T) {
	log := catLog(t)
	left := func(n, of int) string {
		return fmt.Sprintf("nib: %d of %d selected lines were left out\n", n, of)
	}
	const fifth = "panic: no log line"
	for _, c := range []struct {
		args   string
		stdout []string
		stderr string
	}{
		{"cat -n 2", []string{first, second}, left(3, 5)},
		{"cat -n 5", []string{first, second, third, fourth, fifth}, ""},
		{"cat -n 1 -q exists\x00n -C 1", []string{third, fourth, fifth}, ""},
		{"cat -s -n 1 -l error", []string{third}, ""},
		{
			fmt.Sprintf("cat --max-bytes %d", len(first)+len(second)+2),
			[]string{first, second}, left(3, 5),
		},
		{fmt.Sprintf("cat --max-bytes %d", len(first)+len(second)+1), []string{first}, left(4, 5)},
		{"cat --max-bytes 1", nil, left(5, 5)},
		{"tail -n 2 --no-follow", []string{fourth, fifth}, ""},
		{"tail -n 9 --no-follow -s -l error", []string{third, fourth}, ""},
		{"tail -n 1 --no-follow -s -l error", []string{fourth}, ""},
		{
			fmt.Sprintf("tail -n 3 --no-follow --max-bytes %d", len(third)+1),
			[]string{third}, left(2, 3),
		},
	} {
		args := strings.Fields(c.args)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "\x00", " ")
		}
		code, stdout, stderr := run(append(args, log)...)
		want := strings.Join(append(c.stdout, ""), "\n")
		if code != 0 || stdout != want || stderr != c.stderr {
			t.Errorf("%s: got %d\n%s%swant\n%s%s", c.args, code, stdout, stderr, want, c.stderr)
		}
	}
	for _, args := range []string{
		"cat --max-bytes -1", "tail --max-bytes 9", "tail --no-follow -n -1",
	} {
		if code, _, stderr := run(append(strings.Fields(args), log)...); code != 2 {
			t.Errorf("%s: got %d and %s, want 2", args, code, stderr)
		}
	}
}

// Several sources have a limit together, and a compressed file has last lines,
// too.
func TestLittleOfSeveralLogs(t *testing.T) {
	dir := t.TempDir()
	a, b := store(t, dir, "a.log", first, third, ""), store(t, dir, "b.log", second, fourth, "")
	code, stdout, stderr := run("cat", "-n", "3", a, b)
	want := strings.Join([]string{first, second, third, ""}, "\n")
	if code != 0 || stdout != want || stderr != "nib: 1 of 4 selected lines were left out\n" {
		t.Errorf("got %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = run("tail", "-n", "1", "--no-follow", a, b)
	if want := third + "\n" + fourth + "\n"; code != 0 || stdout != want || stderr != "" {
		t.Errorf("got %d\n%s%s", code, stdout, stderr)
	}
}
