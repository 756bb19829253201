// SPDX-License-Identifier: Apache-2.0

package console

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib/alloctest"
)

func TestAPseudoTerminalIsATerminal(t *testing.T) {
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	defer f.Close()
	for term, want := range map[string]bool{"xterm": true, "": true, "dumb": false} {
		getenv := func(key string) string { return map[string]string{"TERM": term}[key] }
		if got := wantColor(ColorAuto, f, getenv); got != want {
			t.Errorf("TERM=%s: got %v, want %v", term, got, want)
		}
	}
}

// The size of the window is queried for each line, so no signal handler is
// needed.
func TestAResizedWindowIsNoticed(t *testing.T) {
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	defer f.Close()
	s := New(f, Config{Color: ColorNever})
	const line = `{"message":"m","a":1}`
	for columns, want := range map[uint16]int{0: 41, 60: 17, 80: 25, 120: 41} {
		size := struct{ rows, columns, x, y uint16 }{columns: columns}
		if err := s.terminal.Control(func(fd uintptr) { ioctl(fd, syscall.TIOCSWINSZ, &size) }); err != nil {
			t.Fatal(err)
		}
		shown := string(s.Render(nil, []byte(line)))
		if got := strings.Index(shown, "a=") - strings.Index(shown, "m") - 1; got != want {
			t.Errorf("%d columns: %d spaces between message and field, want %d", columns, got, want)
		}
	}
	alloctest.Zero(t, func() { s.painter().release() })
}
