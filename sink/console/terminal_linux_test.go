// SPDX-License-Identifier: Apache-2.0

package console

import (
	"os"
	"testing"
)

func TestAPseudoTerminalIsATerminal(t *testing.T) {
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	defer f.Close()
	for term, want := range map[string]bool{"xterm": true, "": true, "dumb": false} {
		getenv := func(key string) string { return map[string]string{"TERM": term}[key] }
		if got := wantColor(Auto, f, getenv); got != want {
			t.Errorf("TERM=%s: got %v, want %v", term, got, want)
		}
	}
}
