// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nib-log/nib/dest/kafka/topic"
)

// A check is the result of comparing a destination with the ledger. Each wrong
// line counts once, in the first kind that applies.
type check struct {
	lines     int // number of all lines
	bytes     int64
	delivered int // lines of the plan, each once
	midCall   int // of delivered: lines whose call never returned

	invalid    int // not one JSON object, or not of this run
	untrue     int // differs from the client's record
	duplicates int
	reordered  int // lines after a later line of the same connection
	lost       int

	examples []string // descriptions of the first faults
}

func (c *check) ok() bool {
	return c.invalid+c.untrue+c.duplicates+c.reordered+c.lost == 0
}

const maxExamples = 5

func (c *check) fault(kind *int, format string, args ...any) {
	*kind++
	if len(c.examples) < maxExamples {
		c.examples = append(c.examples, fmt.Sprintf(format, args...))
	}
}

// A lineBody has the fields of a line that are checked.
type lineBody struct {
	Time      string   `json:"time"`
	Level     string   `json:"level"`
	Method    string   `json:"method"`
	Path      string   `json:"path"`
	Status    int      `json:"status"`
	Bytes     int      `json:"bytes"`
	Took      *float64 `json:"took"`
	Remote    string   `json:"remote"`
	RequestID string   `json:"request_id"`
	Error     string   `json:"error"`
	Item      int      `json:"item"`
	Message   string   `json:"message"`
}

// A checker compares a destination with a ledger.
type checker struct {
	check
	ledger *ledger
	plan   plan
	seen   [2][][]bool // per kind of line, connection, request
	last   []int       // position of the latest line of a connection
}

// Kinds of lines. For one request, the service's line comes first.
const (
	serviceLine = iota
	accessLine
)

func newChecker(l *ledger) *checker {
	p := l.plan
	k := &checker{ledger: l, plan: p, last: make([]int, p.connections)}
	for c := range p.connections {
		k.last[c] = -1
		for kind := range k.seen {
			k.seen[kind] = append(k.seen[kind], make([]bool, p.of(c)))
		}
	}
	return k
}

// checkFiles checks the files in order.
func checkFiles(paths []string, l *ledger) (check, error) {
	k := newChecker(l)
	for _, path := range paths {
		if err := k.file(path); err != nil {
			return k.check, err
		}
	}
	k.findLost()
	return k.check, nil
}

// checkTopic checks a topic, whose records are lines without a newline.
func checkTopic(ctx context.Context, brokers []string, name string, l *ledger) (check, error) {
	k := newChecker(l)
	var line []byte
	err := topic.Read(ctx, brokers, name, func(m topic.Message) bool {
		line = append(append(line[:0], m.Value...), '\n')
		k.line(line)
		return true
	})
	k.findLost()
	return k.check, err
}

func (k *checker) file(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<16)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			k.line(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// line checks one line.
func (k *checker) line(line []byte) {
	k.lines++
	k.bytes += int64(len(line))
	body, err := decode(line)
	if err != nil {
		k.fault(&k.invalid, "line %d is invalid (%v): %.200q", k.lines, err, line)
		return
	}
	connection, n, ok := k.plan.parseID(body.RequestID)
	kind := accessLine
	if body.Message != accessMessage {
		kind = serviceLine
	}
	if !ok || kind == serviceLine && (body.Message != serviceMessage || !expect(n).logs) {
		k.fault(&k.invalid, "line %d is of no request: %.200q", k.lines, line)
		return
	}
	if k.seen[kind][connection][n] {
		k.fault(&k.duplicates, "line %d was there before: %.200q", k.lines, line)
		return
	}
	k.seen[kind][connection][n] = true
	position := 2*n + kind
	if position < k.last[connection] {
		k.fault(&k.reordered, "line %d comes after a later one: %.200q", k.lines, line)
		return
	}
	k.last[connection] = position
	if !body.truth(kind, n) {
		k.fault(&k.untrue, "line %d does not say what the client saw: %.200q", k.lines, line)
	}
}

// decode reads a line that is one JSON object with known fields and a newline.
func decode(line []byte) (body lineBody, err error) {
	if !bytes.HasSuffix(line, []byte{'\n'}) {
		return body, errors.New("it has no end")
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&body); err != nil {
		return body, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return body, errors.New("there is more than one value in it")
	}
	_, err = time.Parse(time.RFC3339Nano, body.Time)
	return body, err
}

// truth compares a line with the answer to its request.
func (b *lineBody) truth(kind, n int) bool {
	want := expect(n)
	if kind == serviceLine {
		return b.Level == "error" && b.Error == errStock.Error() && b.Item == n
	}
	return b.Level == want.level() && b.Method == want.method && b.Path == itemPath(n) && b.Status == want.status &&
		b.Bytes == len(want.body) && b.Took != nil && *b.Took >= 0 && b.Remote != ""
}

// findLost counts the lines that are missing.
func (k *checker) findLost() {
	for kind := range k.seen {
		for c := range k.plan.connections {
			for n := range k.plan.of(c) {
				key := lineKey{kind, c, n}
				switch seen := k.seen[kind][c][n]; {
				case seen && k.ledger.returned(key):
					k.delivered++
				case seen:
					k.delivered++
					k.midCall++
				case k.ledger.must(key):
					k.fault(&k.lost, "%s is lost", key)
				}
			}
		}
	}
}

func (k lineKey) String() string {
	if k.kind == accessLine {
		return "the access line of request " + requestID(k.connection, k.n)
	}
	return "the line that the handler of request " + requestID(k.connection, k.n) + " wrote"
}
