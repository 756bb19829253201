// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package stdio

import (
	"fmt"
	"math"
	"os"
	"time"
)

// A Port has its own file where the system allows it. Writes block, so there is
// no ErrFull.
type Port struct {
	file *os.File
	own  bool

	// Whole is the size in bytes up to which ErrFull never causes a partial
	// write.
	Whole int
}

// Open opens the target of f. Close does not close f.
func Open(f *os.File) Port {
	own := ownFile(f)
	return Port{file: own, own: own != f, Whole: math.MaxInt}
}

// Write writes all of b unless it returns an error: ErrGone, or an error of the
// system, for which it allocates.
func (p *Port) Write(b []byte) (n int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, err = p.file.Write(b)
	switch {
	case err == nil:
		return n, nil
	case isGone(err):
		return n, ErrGone
	}
	return n, fmt.Errorf("nib/stdio: %w", err)
}

// State returns nil: the state is unknown on this system.
func (p *Port) State() error { return nil }

// Wait waits for room.
func (p *Port) Wait(time.Duration) bool { return true }

// Close closes the Port's own file.
func (p *Port) Close() {
	if p.own {
		p.file.Close()
	}
}
