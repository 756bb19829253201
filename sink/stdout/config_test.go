// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/counttest"
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

func TestCountersAreShownUnderTheirNames(t *testing.T) {
	s := &Sink{name: "/dev/stdout", head: head{written: 1}}
	s.buffer.fill.Add([]byte("a\n"), 0)
	s.buffer.out.Add([]byte("b\n"), 0)
	s.written[0].Lines, s.written[1].Lines, s.written[1].Bytes = 3, 4, 5
	for i, cause := range []cause{stalled, gone, closed, failed} {
		s.head.dropped[cause][i] = uint64(11 + i)
	}
	got, want := s.Stats(), Stats{Lines: 7, Bytes: 5, Pending: 2, Notices: 1}
	if got.Lost() != 50 {
		t.Errorf("got %d lost lines, want 50", got.Lost())
	}
	if got.Dropped = nil; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	counttest.Shown(t, s, want, map[string]string{
		"Lines": "nib_stdout_lines_total", "Bytes": "nib_stdout_bytes_total",
		"Pending": "nib_stdout_buffered_lines",
		"Notices": `nib_stdout_notices_total{stream="/dev/stdout"}`,
	})
	dropped := struct{ Stalled, Gone, Closed, Failed uint64 }{11, 12, 13, 14}
	counttest.Shown(t, s, dropped, map[string]string{
		"Stalled": `nib_stdout_dropped_lines_total{reason="stalled"}`,
		"Gone":    `nib_stdout_dropped_lines_total{reason="gone"}`,
		"Closed":  `nib_stdout_dropped_lines_total{reason="closed"}`,
		"Failed":  `nib_stdout_dropped_lines_total{reason="failed"}`,
	})
}
