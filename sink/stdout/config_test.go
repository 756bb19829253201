// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestValidateJoinsAllFaults(t *testing.T) {
	for _, c := range []struct {
		name string
		give Config
		want string
	}{
		{"zero", Config{}, ""},
		{"all set", Config{File: os.Stdout, Stall: time.Second, Buffer: 1, Delay: time.Second}, ""},
		{"negative stall", Config{Stall: -1}, "nib/stdout: Stall is negative: -1ns"},
		{"negative buffer", Config{Buffer: -1}, "nib/stdout: Buffer is negative: -1"},
		{"huge buffer", Config{Buffer: 1<<30 + 1}, "nib/stdout: Buffer is more than 1 GiB: 1073741825"},
		{"delay of nothing", Config{Delay: 1}, "nib/stdout: Delay of 1ns without Buffer"},
		{"several", Config{Stall: -2, Buffer: -3, Delay: -4},
			"nib/stdout: Stall is negative: -2ns\nnib/stdout: Buffer is negative: -3\nnib/stdout: Delay is negative: -4ns"},
	} {
		got := ""
		if err := c.give.Validate(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestNewPanicsOnAnInvalidConfig(t *testing.T) {
	defer func() {
		err, _ := recover().(error)
		if err == nil || !strings.Contains(err.Error(), "Stall is negative") {
			t.Errorf("got %v, want the fault", err)
		}
	}()
	New(Config{Stall: -1})
}

func TestDefaults(t *testing.T) {
	c := Config{}.withDefaults()
	if c.File != os.Stdout || c.Stall != 100*time.Millisecond || c.Delay != time.Millisecond || c.Buffer != 0 {
		t.Errorf("got %+v", c)
	}
}
