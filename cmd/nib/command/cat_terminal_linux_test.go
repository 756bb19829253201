// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/spool"
)

// onTerminal runs nib as a process on a terminal, and returns the terminal's
// text.
func onTerminal(t *testing.T, env []string, args ...string) string {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there are no pseudo terminals here: %v", err)
	}
	defer screen.Close()
	must(t, unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	must(t, err)
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no pseudo terminals here: %v", err)
	}
	settings, err := unix.IoctlGetTermios(int(program.Fd()), unix.TCGETS)
	must(t, err)
	settings.Oflag &^= unix.OPOST // no added carriage returns
	must(t, unix.IoctlSetTermios(int(program.Fd()), unix.TCSETS, settings))
	must(t, unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}))
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), asNib+"=1", "TERM=xterm", "NO_COLOR=", "PAGER=cat", "NIB_PAGER=", "COLUMNS="), env...)
	cmd.Stdout, cmd.Stderr = program, program
	must(t, cmd.Start())
	program.Close()
	var out bytes.Buffer
	_, _ = out.ReadFrom(screen) // ends with an error when the last writer has gone
	_ = cmd.Wait()
	return out.String()
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestHostileLinesDoNotReachTheTerminal(t *testing.T) {
	var lines []string
	hostile := []string{"\x1b]0;title\x07", "\x1b[2J", "\u009b31m", "\u202e", "\u2028", "\ufeff", "\x7f", "\x00", "\xff\xfe", "\r", "a\tb", "\u2067"}
	for _, h := range hostile {
		escaped := strings.Trim(fmt.Sprintf("%q", h), `"`)
		lines = append(lines, h, "x "+h+" y",
			`{"level":"info","message":"`+h+`"}`, `{"level":"`+h+`","k`+h+`":"`+h+`"}`, `{"time":"`+h+`","message":"m"}`, `p`+h+` | {"level":"info","message":"m"}`,
			"level=info msg=\""+h+"\" k"+h+"=1", "level="+h+" a=b", `level=info msg="`+escaped+`"`, `{"message":"cut `+h,
			`{"MESSAGE":"`+h+`","PRIORITY":"3"}`, "2026-11-20T10:00:00Z ERROR "+h)
	}
	log := store(t, t.TempDir(), "hostile.log", append(lines, "")...)
	for _, args := range [][]string{
		{"-o", "console"}, {"-o", "json"}, {"-o", "logfmt"}, {"-o", "csv"}, {"-o", "raw"}, {}, {"-C", "1", "-q", "line contains x"},
		{"-t", "{time} {level} {message} {line} {k}"}, {"--fields", "level,message,k"}, {"-o", "json", "--fields", "level,message,k"}, {"--color", "never"},
	} {
		got := sgr.ReplaceAllString(onTerminal(t, nil, append([]string{"cat", log}, args...)...), "")
		if strings.Count(got, "\n") < len(hostile) {
			t.Errorf("%q: got %d lines", args, strings.Count(got, "\n"))
		}
		for i, r := range got {
			if r != '\n' && (!isShown(r) || r == utf8.RuneError && !strings.HasPrefix(got[i:], "\ufffd")) {
				t.Errorf("%q: %U reaches the terminal in %q", args, r, got[max(i-30, 0):min(i+30, len(got))])
				break
			}
		}
	}
}

func TestHostileRecordsDoNotReachTheTerminal(t *testing.T) {
	dir := t.TempDir()
	s := keep(t, dir, 0, spool.Config{})
	hostile := "\x1b]0;title\x07 \u009b31m \u202e \x7f \xff"
	for _, line := range []string{hostile, `{"message":"` + hostile + `"}`} {
		must(t, s.WriteRecord(&nib.Record{Time: 1, Level: nib.LevelInfo, Line: []byte(line + "\n")}))
	}
	if err := s.Close(); !errors.Is(err, spool.ErrPending) {
		must(t, err)
	}
	store(t, dir, "main.rejected", `{"seq":1,"reason":"`+hostile+`","line":{}}`, "")
	for verb, lines := range map[string]int{"cat": 2, "rejected": 1} {
		got := onTerminal(t, nil, "spool", verb, dir)
		if strings.Count(got, "\n") != lines || !strings.Contains(got, "title") {
			t.Errorf("%s: got %q", verb, got)
		}
		for _, r := range got {
			if r != '\n' && (!isShown(r) || r == utf8.RuneError && !strings.Contains(got, "\ufffd")) {
				t.Errorf("%s: %U reaches the terminal in %q", verb, r, got)
				break
			}
		}
	}
}

func isShown(r rune) bool {
	return unicode.IsPrint(r) || unicode.Is(unicode.Zs, r)
}

func TestColoursAndPagerOfATerminal(t *testing.T) {
	log := catLog(t)
	if got := onTerminal(t, nil, "cat", "-l", "error", "-s", log); !strings.Contains(got, "\x1b[1;31mERROR\x1b[0m") {
		t.Errorf("no colours: %q", got)
	}
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		if got := onTerminal(t, []string{env}, "cat", "-l", "error", "-s", log); strings.Contains(got, "\x1b") || !strings.Contains(got, "ERROR zap failed") {
			t.Errorf("%s: %q", env, got)
		}
	}
	if got := onTerminal(t, []string{"PAGER=sed s/^/paged:/"}, "cat", "-l", "error", "-s", log); strings.Count(got, "paged:") != 2 {
		t.Errorf("pager: %q", got)
	}
	if got := onTerminal(t, []string{"PAGER=sed s/^/paged:/"}, "cat", "--no-pager", log); strings.Contains(got, "paged:") {
		t.Errorf("no pager: %q", got)
	}
	// A pager that ends early is not an error.
	if got := onTerminal(t, []string{"PAGER=true"}, "cat", log); got != "" {
		t.Errorf("a pager that has ended: %q", got)
	}
}
