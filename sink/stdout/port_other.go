// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package stdout

import (
	"errors"
	"fmt"
	"math"
	"os"
	"time"
)

// errFull says that there is no room now. It does not come up here: writes
// block.
var errFull = errors.New("nib/stdout: no room")

// A port is a file of the sink's own, if the system makes that easy.
type port struct {
	file  *os.File
	own   bool
	whole int
}

func openPort(f *os.File) port {
	own := ownFile(f)
	return port{file: own, own: own != f, whole: math.MaxInt}
}

// write writes all of p unless it returns an error. It allocates then.
func (p *port) write(b []byte) (n int, err error) {
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
	return n, fmt.Errorf("nib/stdout: %w", err)
}

func (p *port) state() error            { return nil }
func (p *port) wait(time.Duration) bool { return true }

func (p *port) close() {
	if p.own {
		p.file.Close()
	}
}
