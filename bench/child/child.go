// SPDX-License-Identifier: Apache-2.0

// Package child measures in other processes: the reader of a pipe, a service
// under load, and a receiver of OTLP. The benchmark starts itself again for
// them.
package child

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// verb is the first argument of a child.
const verb = "bench-child"

// Dispatch acts as a child and exits if the program was started as one. Call
// it first thing in main.
func Dispatch() {
	if len(os.Args) < 3 || os.Args[1] != verb {
		return
	}
	var err error
	switch os.Args[2] {
	case "drain":
		err = drain(os.Stdin)
	case "serve":
		err = serve(os.Args[3])
	case "receive":
		err = receive()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func command(args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	return exec.Command(self, append([]string{verb}, args...)...), err
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
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd, err := command("drain")
	cmd.Stdin, cmd.Stderr = r, os.Stderr
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
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

// A server is a child that writes its address to standard error, and ends when
// its standard input does.
type server struct {
	address string
	cmd     *exec.Cmd
	stdin   io.Closer
}

// start starts a server with a standard output, which may be nil.
func start(out *os.File, args ...string) (*server, error) {
	cmd, err := command(args...)
	if err != nil {
		return nil, err
	}
	if out != nil {
		cmd.Stdout = out
	}
	stdin, err1 := cmd.StdinPipe()
	stderr, err2 := cmd.StderrPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{cmd: cmd, stdin: stdin}
	if s.address, err = bufio.NewReader(stderr).ReadString('\n'); err != nil {
		return nil, errors.Join(fmt.Errorf("%s has ended", args), s.end())
	}
	s.address = strings.TrimSpace(s.address)
	return s, nil
}

func (s *server) end() error {
	s.stdin.Close()
	return s.cmd.Wait()
}
