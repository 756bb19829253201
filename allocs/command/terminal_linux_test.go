// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// pseudoTerminal returns both ends of a terminal with a number of columns.
func pseudoTerminal(t *testing.T, columns uint16) (screen, program *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there are no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { program.Close() })
	if err := unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	return screen, program
}

// TestBarOnATerminal looks at the output of a real terminal.
func TestBarOnATerminal(t *testing.T) {
	screen, program := pseudoTerminal(t, 60)
	b := newBar(program, false, false)
	b.tell(measuring)
	buf := make([]byte, 4096)
	n, err := screen.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	line, ok := strings.CutPrefix(string(buf[:n]), "\r")
	line, cleared := strings.CutSuffix(strings.Split(line, "\r")[0], "\x1b[K")
	if !ok || !cleared || utf8.RuneCountInString(line) > 59 || !strings.Contains(line, "50 %") || !strings.HasSuffix(line, "/httpapi") {
		t.Errorf("got %q, want one line of at most 59 columns", buf[:n])
	}
	b.stop()
	if ok, columns := terminal(program); !ok || columns != 60 {
		t.Errorf("got %v, %d, want a terminal of 60 columns", ok, columns)
	}
}
