// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nib-log/nib/internal/stdio"
)

const (
	defaultStall = stdio.Stall
	defaultDelay = time.Millisecond
)

// A Config says how to write. The zero value is ready to use.
type Config struct {
	// File is where lines go. Defaults to os.Stdout. The sink takes a
	// descriptor of its own and neither changes nor closes File; a reader sees
	// the end of the stream when both are closed.
	File *os.File

	// Stall is how long a call waits for a reader that does not read. Defaults
	// to 100 ms.
	Stall time.Duration

	// OnStall is called each time the reader is found to have stopped, with the
	// counts at that moment, by the goroutine that found out: usually one that
	// logs and waits meanwhile, else the sink's own. It is not called while it
	// runs. A line that it logs to the same sink is dropped most likely. What it
	// panics with is discarded.
	OnStall func(Stats)

	// Buffer is how many bytes of lines are collected before they are written.
	// Defaults to 0: each line is written by itself, before the call returns.
	// The sink takes twice as much memory.
	Buffer int

	// Delay is how long a line may wait in the buffer. Defaults to 1 ms. It is
	// not set without Buffer.
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
	fault(c.Delay < 0, "Delay is negative: %v", c.Delay)
	fault(c.Delay > 0 && c.Buffer == 0, "Delay of %v without Buffer", c.Delay)
	return errors.Join(faults...)
}

// withDefaults fills in what was left out.
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
