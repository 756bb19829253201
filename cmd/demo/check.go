// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// A key identifies a line of a run.
type key struct {
	kind          int // serviceLine or accessLine
	connection, n int
}

// Kinds of lines. For one request, the service's line comes first.
const (
	serviceLine = iota
	accessLine
)

func (k key) String() string {
	writer := [...]string{"handler", "middleware"}[k.kind]
	return "the line of the " + writer + " for request " + requestID(k.connection, k.n)
}

// A ledger has what is known about the lines of a plan. The destinations are
// compared with it.
type ledger struct {
	plan plan

	mu      sync.Mutex
	calls   map[key]bool // whether the call that writes the line has succeeded
	cut     map[key]bool // access lines of requests that ended with the service
	dropped int          // calls that returned an error
}

func newLedger(p plan) *ledger {
	return &ledger{plan: p, calls: map[key]bool{}, cut: map[key]bool{}}
}

// note records that a call has returned.
func (l *ledger) note(k key, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls[k] = ok
	if !ok {
		l.dropped++
	}
}

func (l *ledger) cutOff(connection, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut[key{accessLine, connection, n}] = true
}

// must reports whether a line must be found: its call has returned, or its
// request was answered, which happens later.
func (l *ledger) must(k key) bool {
	if k.kind == serviceLine && !expect(k.n).logs {
		return false
	}
	ok, returned := l.calls[k]
	return ok || !returned && !l.cut[key{accessLine, k.connection, k.n}]
}

// A check compares a destination with the ledger. Each wrong line counts once,
// in the first kind that applies.
type check struct {
	name         string
	lines, bytes int
	delivered    int // lines of the plan, each once
	midCall      int // of delivered: lines whose call never returned

	invalid    int // not one JSON object, or not of this run
	untrue     int // differs from the client's record
	duplicates int
	reordered  int // lines after a later line of the same connection
	lost       int

	examples []string // descriptions of the first faults

	ledger *ledger
	seen   map[key]bool
	last   map[int]int // position of the latest line of a connection
}

func newCheck(name string, l *ledger) *check {
	return &check{name: name, ledger: l, seen: map[key]bool{}, last: map[int]int{}}
}

func (c *check) ok() bool {
	return c.invalid+c.untrue+c.duplicates+c.reordered+c.lost == 0
}

func (c *check) fault(kind *int, format string, args ...any) {
	*kind++
	if len(c.examples) < 5 {
		c.examples = append(c.examples, fmt.Sprintf(format, args...))
	}
}

// A lineBody has the fields of a line that are checked.
type lineBody struct {
	Time      time.Time `json:"time"`
	Level     string    `json:"level"`
	Method    string    `json:"method"`
	Path      string    `json:"path"`
	Status    int       `json:"status"`
	Bytes     int       `json:"bytes"`
	Took      *float64  `json:"took"`
	Remote    string    `json:"remote"`
	RequestID string    `json:"request_id"`
	Error     string    `json:"error"`
	Item      int       `json:"item"`
	Message   string    `json:"message"`
}

// files checks the log files of a directory, oldest first, and returns how many
// there are: the names of rotated files begin with the time.
func (c *check) files(dir string) (int, error) {
	names, err := fs.Glob(os.DirFS(dir), "access-*.log")
	if err != nil {
		return 0, err
	}
	names = append(names, logName)
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return 0, err
		}
		for line := range bytes.Lines(text) {
			c.line(line)
		}
	}
	c.findLost()
	return len(names), nil
}

// line checks one line.
func (c *check) line(line []byte) {
	c.lines++
	c.bytes += len(line)
	var body lineBody
	if err := json.Unmarshal(line, &body); err != nil || !bytes.HasSuffix(line, []byte{'\n'}) {
		c.fault(&c.invalid, "line %d is invalid (%v): %.200q", c.lines, err, line)
		return
	}
	k, ok := c.ledger.plan.keyOf(body.RequestID, body.Message)
	if !ok || k.kind == serviceLine && (body.Message != serviceMessage || !expect(k.n).logs) {
		c.fault(&c.invalid, "line %d is of no request: %.200q", c.lines, line)
		return
	}
	if c.seen[k] {
		c.fault(&c.duplicates, "line %d was there before: %.200q", c.lines, line)
		return
	}
	c.seen[k] = true
	position := 2*k.n + k.kind
	if position < c.last[k.connection] {
		c.fault(&c.reordered, "line %d comes after a later one: %.200q", c.lines, line)
		return
	}
	c.last[k.connection] = position
	if !body.truth(k) {
		c.fault(&c.untrue, "line %d does not say what the client saw: %.200q", c.lines, line)
	}
}

// truth compares a line with the answer to its request.
func (b *lineBody) truth(k key) bool {
	want := expect(k.n)
	if k.kind == serviceLine {
		return b.Level == "error" && b.Error == errStock.Error() && b.Item == k.n
	}
	return b.Level == want.level() && b.Method == want.method && b.Path == itemPath(k.n) &&
		b.Status == want.status && b.Bytes == len(want.body) && b.Took != nil && *b.Took >= 0 &&
		b.Remote != "" && !b.Time.IsZero()
}

// findLost counts the lines that are missing.
func (c *check) findLost() {
	for connection := range c.ledger.plan.connections {
		for n := range c.ledger.plan.of(connection) {
			for kind := range 2 {
				switch k := (key{kind, connection, n}); {
				case c.seen[k]:
					c.delivered++
					if !c.ledger.calls[k] {
						c.midCall++
					}
				case c.ledger.must(k):
					c.fault(&c.lost, "%s is lost", k)
				}
			}
		}
	}
}
