// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/seed"
)

// TestStreamAndCountsAgreeWhereverAWriteStops enumerates the programs of a sink
// and a reader: l logs a line of 35 bytes, L a line that leaves cut bytes of
// the pipe, f flushes, n writes a notice, r reads. Writes stop in each part of
// a line, and the reader resumes between any two steps, also within Flush and
// Close.
func TestStreamAndCountsAgreeWhereverAWriteStops(t *testing.T) {
	const ops, programs = "lLfnr", 5 * 5 * 5 * 5
	cuts := []int{-1, 2, 34}
	if testing.Short() {
		cuts = cuts[:1]
	}
	selected := seed.Sample(t, 4, 5)
	for _, c := range []pipeModel{{}, {long: true}, {buffer: 6000}, {buffer: 6000, long: true}} {
		for _, c.cut = range cuts {
			for i := range programs {
				if !selected() {
					continue
				}
				program := []byte("L")
				for rest := i; len(program) < 5; rest /= len(ops) {
					program = append(program, ops[rest%len(ops)])
				}
				for _, end := range []string{"", "dr", "rdr"} { // d drops the rest, as Close does
					c.run(t, append(program, end...))
				}
			}
		}
	}
}

// A pipeModel is a sink on a pipe of one page.
type pipeModel struct {
	buffer, cut int
	long        bool // a notice is longer than the pipe

	r, logged int
	text      []byte
}

func (m pipeModel) run(t *testing.T, program []byte) {
	s, room := m.open(t)
	for _, op := range program {
		switch op {
		case 'l':
			m.log(s, 35)
		case 'L':
			m.log(s, room-m.cut)
		case 'f':
			_ = s.flushFor(limit{})
		case 'r':
			m.read()
		default:
			s.mu.Lock()
			if op == 'n' {
				s.writeHead(limit{})
			} else {
				_ = s.dropHeld()
			}
			s.mu.Unlock()
		}
	}
	s.Close()
	m.read()
	syscall.Close(m.r)
	checkIdentity(t, s, m.logged)
	m.check(t, s, bytes.HasSuffix(program, []byte("dr")) && !m.long)
	if t.Failed() {
		t.Fatalf("program %s, buffer %d, cut %d, long %v", program, m.buffer, m.cut, m.long)
	}
}

func (m *pipeModel) open(t *testing.T) (s *Sink, room int) {
	var p [2]int
	must.Succeed(t, syscall.Pipe2(p[:], syscall.O_NONBLOCK|syscall.O_CLOEXEC))
	const setSize = 1031 // F_SETPIPE_SZ
	size, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(p[1]), setSize, 4096)
	if errno != 0 {
		t.Fatal(errno)
	}
	w := os.NewFile(uintptr(p[1]), "w")
	defer w.Close()
	m.r, m.text = p[0], nil
	c := Config{File: w, Stall: time.Nanosecond, Buffer: m.buffer, Delay: delayFor(m.buffer)}
	if m.long {
		c.View = func(dst, line []byte) []byte {
			return fmt.Appendf(dst, `{"pad":"%s",%s`, strings.Repeat("x", int(size)), line[1:])
		}
	}
	return New(c), int(size)
}

func (m *pipeModel) log(s *Sink, size int) {
	m.logged++
	_ = s.WriteRecord(record(nib.LevelInfo, m.logged, size))
}

func (m *pipeModel) read() {
	for part := make([]byte, 1<<16); ; {
		n, err := syscall.Read(m.r, part)
		if n <= 0 || err != nil {
			return
		}
		m.text = append(m.text, part[:n]...)
	}
}

// check compares the stream with the counts. If the reader has read everything
// before Close, and the buffer was empty, every loss is reported.
func (m *pipeModel) check(t *testing.T, s *Sink, complete bool) {
	st := s.Stats()
	i := bytes.LastIndexByte(m.text, '\n') + 1
	switch last := m.text[i:]; {
	case bytes.HasPrefix(last, []byte(`{"pad"`)): // Close has cut off a notice
		m.text = m.text[:i]
	case json.Valid(last): // a line without its newline is not lost
		m.text = append(m.text, '\n')
	}
	checkTornStream(t, s, string(m.text))
	_, notices, torn := parse(string(m.text))
	for _, line := range torn {
		if strings.LastIndex(line, "{") != 0 {
			t.Errorf("two lines in one: %.200q", line)
		}
	}
	var reported uint64
	for _, n := range notices {
		reported += n.Dropped
	}
	if reported > st.Lost() || complete && reported != st.Lost() {
		t.Errorf("notices report %d lost lines of %d", reported, st.Lost())
	}
}

// TestCloseReportsEveryLoss has a reader that resumes after Close has begun,
// with a notice that is partly written and lines lost since.
func TestCloseReportsEveryLoss(t *testing.T) {
	for _, m := range []pipeModel{{}, {buffer: 6000}} {
		m.long = true
		s, room := m.open(t)
		for range 3 {
			m.log(s, room)
		}
		m.read()
		s.mu.Lock()
		s.writeHead(limit{})
		s.mu.Unlock()
		m.log(s, 2*room)
		s.stall = never
		must.Succeed(t, syscall.SetNonblock(m.r, false))
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			s.Close()
		}()
		m.read() // until the end of the stream
		<-closed
		syscall.Close(m.r)
		checkIdentity(t, s, m.logged)
		m.check(t, s, true)
		if s.head.sent > 0 {
			t.Error("the notice is cut off")
		}
	}
}
