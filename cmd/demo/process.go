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

	up     chan up     // gets one value
	caught chan caught // gets one value, if there was something to recover
	ended  chan struct{}

	// Owned by the reading goroutine until ended is closed.
	end   *end
	fault string
}

var executable = os.Executable // replaced in a test

// startWorker starts a worker. Its reports of lines go into the ledger, and
// lines to be shown to show, until ended is closed.
func startWorker(j job, l *ledger, show func(line []byte)) (*process, error) {
	program, err := executable()
	if err != nil {
		return nil, err
	}
	p := &process{
		cmd: exec.Command(program, WorkerVerb), up: make(chan up, 1), caught: make(chan caught, 1), ended: make(chan struct{}),
	}
	p.cmd.Stderr = &p.stderr
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.stdin = stdin
	go p.read(stdout, l, show)
	if err := json.NewEncoder(stdin).Encode(j); err != nil {
		p.kill()
		return nil, fmt.Errorf("demo: start a worker: %w", err)
	}
	return p, nil
}

// read records the reports of the worker, until its end of the pipe is closed.
func (p *process) read(out io.Reader, l *ledger, show func([]byte)) {
	defer close(p.ended)
	in := bufio.NewReaderSize(out, 64<<10)
	var buf [4096]byte
	for {
		kind, rest, err := readFrame(in, &buf)
		if err != nil {
			return
		}
		switch kind {
		case frameLine, frameDropped:
			if k, ok := readKey(rest); ok && kind == frameLine {
				l.note(k, returned)
			} else if ok {
				l.note(k, refused)
			}
		case frameText:
			show(rest)
		case frameUp:
			sendOnce(p.up, rest)
		case frameCaught:
			sendOnce(p.caught, rest)
		case frameEnd:
			p.end = new(end)
			_ = json.Unmarshal(rest, p.end) // written by this program
		case frameFault:
			p.fault = string(rest)
		}
	}
}

// sendOnce decodes JSON and sends it to a channel, the first time.
func sendOnce[T any](to chan T, text []byte) {
	var v T
	if json.Unmarshal(text, &v) != nil {
		return
	}
	select {
	case to <- v:
	default:
	}
}

// startLimit is the time within which a worker must answer.
const startLimit = time.Minute

// await waits until the service answers.
func (p *process) await() (up, error) {
	timer := time.NewTimer(startLimit)
	defer timer.Stop()
	select {
	case u := <-p.up:
		return u, nil
	case <-p.ended:
		p.wait()
		return up{}, p.died("did not start")
	case <-timer.C:
		p.kill()
		return up{}, p.died("did not start in time")
	}
}

// kill ends the worker with SIGKILL, and waits until it has ended.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails if the process has ended
	p.wait()
}

// wait returns when the worker has ended. It may be called again.
func (p *process) wait() {
	_ = p.stdin.Close() // fails if the worker has ended
	<-p.ended
	_ = p.cmd.Wait() // its reports show how it ended
}

// stop ends the service, and waits until everything is delivered.
func (p *process) stop() error {
	p.wait()
	if p.fault != "" || p.end == nil {
		return p.died("did not come to its end")
	}
	return nil
}

// died returns an error with the reason, if it is known.
func (p *process) died(what string) error {
	text := "demo: the worker " + what
	if p.cmd.ProcessState != nil {
		text += " (" + p.cmd.ProcessState.String() + ")"
	}
	if p.fault != "" {
		text += ": " + p.fault
	}
	if tail := bytes.TrimSpace(p.stderr.Bytes()); len(tail) > 0 {
		text += "\n" + string(tail[max(0, len(tail)-2000):])
	}
	return errors.New(text)
}
