// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// A process is the parent's view of a worker.
type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr bytes.Buffer
	up     chan up       // gets one value
	ended  chan struct{} // closed when all reports are read

	// Owned by the reading goroutine until ended is closed.
	finished bool
	fault    string
}

// startWorker starts a worker and waits until the service answers. Its reports
// of lines go into the ledger, and lines to be shown to show.
func startWorker(j job, l *ledger, show func(line []byte)) (*process, up, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, up{}, err
	}
	p := &process{cmd: exec.Command(program, workerVerb), up: make(chan up, 1)}
	p.ended = make(chan struct{})
	p.cmd.Stderr = &p.stderr
	stdin, err1 := p.cmd.StdinPipe()
	stdout, err2 := p.cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, up{}, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, up{}, err
	}
	p.stdin = stdin
	go p.read(stdout, l, show)
	_ = json.NewEncoder(stdin).Encode(j) // fails if the worker has ended
	select {
	case u := <-p.up:
		return p, u, nil
	case <-p.ended:
	case <-time.After(time.Minute):
	}
	p.kill()
	return nil, up{}, p.died("did not start")
}

// read records the reports of the worker, until its end of the pipe is closed.
// It ignores a truncated report at the end.
func (p *process) read(out io.Reader, l *ledger, show func([]byte)) {
	defer close(p.ended)
	in := bufio.NewReader(out)
	for {
		text, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		kind, text := text[0], text[1:]
		switch kind {
		case reportLine, reportDropped:
			var k key
			if _, err := fmt.Sscan(string(text), &k.kind, &k.connection, &k.n); err == nil {
				l.note(k, kind == reportLine)
			}
		case reportText:
			show(text)
		case reportUp:
			var u up
			if json.Unmarshal(text, &u) == nil {
				p.up <- u
			}
		case reportEnd:
			p.finished = true
		case reportFault:
			p.fault = string(bytes.TrimSpace(text))
		}
	}
}

// kill ends the worker with SIGKILL, and waits until it has ended.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails if the process has ended
	_ = p.stop()
}

// stop ends the service, and waits until everything is delivered. It may be
// called again.
func (p *process) stop() error {
	_ = p.stdin.Close() // fails if the worker has ended
	<-p.ended
	_ = p.cmd.Wait() // its reports show how it ended
	if !p.finished || p.fault != "" {
		return p.died("has failed")
	}
	return nil
}

// died returns an error with the reason, if it is known.
func (p *process) died(what string) error {
	return fmt.Errorf("the worker %s (%v): %s\n%s", what, p.cmd.ProcessState, p.fault,
		bytes.TrimSpace(p.stderr.Bytes()))
}
