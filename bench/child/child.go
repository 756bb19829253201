// SPDX-License-Identifier: Apache-2.0

// Package child measures in other processes: the reader of a pipe, a service
// under load, and programs that only log one line. The benchmark starts itself
// again for the first two.
package child

import (
	"fmt"
	"io"
	"os"
	"os/exec"
)

const (
	drainVerb = "child-drain"
	serveVerb = "child-serve"
)

// Dispatch acts as a child and exits if the program was started as one. Call
// it first thing in main.
func Dispatch() {
	if len(os.Args) < 2 {
		return
	}
	var err error
	switch os.Args[1] {
	case drainVerb:
		err = drain(os.Stdin)
	case serveVerb:
		err = serve(os.Args[2])
	default:
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// drain reads r and discards its content. It reads more at a time than a pipe
// holds, so that it never limits a writer.
func drain(r io.Reader) error {
	buf := make([]byte, 1<<20)
	for {
		if _, err := r.Read(buf); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// A Drain is a pipe with a reader in a separate process.
type Drain struct {
	W   *os.File // the end to write to
	cmd *exec.Cmd
}

// StartDrain starts a Drain. Close ends it.
func StartDrain() (*Drain, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd := exec.Command(self, drainVerb)
	cmd.Stdin, cmd.Stderr = r, os.Stderr
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil, err
	}
	// The standard output of a service is in blocking mode. os.Pipe makes
	// non-blocking ends, to which Go writes differently. Fd switches to blocking
	// mode.
	w.Fd()
	return &Drain{W: w, cmd: cmd}, nil
}

// Close closes the pipe and waits for the reader to end.
func (d *Drain) Close() error {
	d.W.Close()
	return d.cmd.Wait()
}
