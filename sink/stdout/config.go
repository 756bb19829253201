// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/stdio"
)

const (
	defaultStall = stdio.Stall
	defaultDelay = time.Millisecond
	maxBuffer    = 1 << 30
)

// A Config configures a Sink. The zero value is ready to use.
type Config struct {
	// File is the destination of the lines. Defaults to os.Stdout. The sink
	// uses a separate descriptor and neither changes nor closes File; a reader
	// sees the end of the stream when both are closed.
	File *os.File

	// Stall is the maximum time that a call waits for a stalled reader.
	// Defaults to 100 ms.
	Stall time.Duration

	// Layout is the layout of the notices of dropped lines; it should be the
	// logger's layout. Defaults to nib's own.
	Layout nib.Layout

	// View appends a notice, which is a line of JSON, to dst in the form of the
	// lines around it. It is Render of package console or logfmt if they come
	// from there. It must not log. Defaults to JSON.
	View func(dst, line []byte) []byte

	// OnStall is called, with the current counts, each time the reader stalls,
	// by the goroutine that detects it. Usually a call that logs detects it and
	// waits for OnStall; otherwise the sink's own goroutine does. It is never
	// called concurrently. A line that it logs to the same sink is most likely
	// dropped. It must not call Close, which waits for it. Its panics are
	// discarded.
	OnStall func(Stats)

	// Buffer is the number of bytes of lines to collect before they are written,
	// at most 1 GiB. The sink uses twice as much memory. Defaults to 0: each line
	// is written by itself, before the call returns.
	Buffer int

	// Delay is the maximum time that a line waits in the buffer. It requires
	// Buffer. Defaults to 1 ms.
	Delay time.Duration
}

// Validate returns every error in c, joined, or nil.
func (c Config) Validate() error {
	var faults []error
	fault := func(wrong bool, format string, value any) {
		if wrong {
			faults = append(faults, fmt.Errorf("nib/stdout: "+format, value))
		}
	}
	fault(c.Stall < 0, "Stall is negative: %v", c.Stall)
	fault(c.Buffer < 0, "Buffer is negative: %d", c.Buffer)
	fault(c.Buffer > maxBuffer, "Buffer is more than 1 GiB: %d", c.Buffer)
	fault(c.Delay < 0, "Delay is negative: %v", c.Delay)
	fault(c.Delay > 0 && c.Buffer == 0, "Delay of %v without Buffer", c.Delay)
	err := c.Layout.Validate()
	fault(err != nil, "%w", err)
	return errors.Join(faults...)
}

// withDefaults sets the fields that are zero to their defaults.
func (c Config) withDefaults() Config {
	if c.File == nil {
		c.File = os.Stdout
	}
	if c.Stall == 0 {
		c.Stall = defaultStall
	}
	if c.Delay == 0 {
		c.Delay = defaultDelay
	}
	return c
}
