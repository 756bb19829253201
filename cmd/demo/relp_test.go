// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A receiver acknowledges syslog messages over RELP and keeps the lines in
// them.
type receiver struct {
	net.Listener
	mu    sync.Mutex
	lines map[string]int // how often each was received
}

func startReceiver(t *testing.T) *receiver {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	r := &receiver{Listener: l, lines: map[string]int{}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go r.serve(c)
		}
	}()
	return r
}

// serve answers one connection. A frame is a number, a command, a length, that
// many bytes, and a newline.
func (r *receiver) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		var number, length int
		var command string
		if _, err := fmt.Fscanf(in, "%d %s %d", &number, &command, &length); err != nil {
			return
		}
		data := make([]byte, length+1) // a space, or the newline of an empty one
		if _, err := io.ReadFull(in, data); err != nil {
			return
		}
		if length > 0 {
			if b, err := in.ReadByte(); err != nil || b != '\n' {
				return
			}
		}
		answer := "200 OK"
		switch command {
		case "open":
			answer += "\nrelp_version=0\nrelp_software=test\ncommands=syslog"
		case "syslog":
			if at := bytes.IndexByte(data, '{'); at >= 0 {
				r.mu.Lock()
				r.lines[string(bytes.TrimSpace(data[at:]))]++
				r.mu.Unlock()
			}
		}
		if _, err := fmt.Fprintf(c, "%d rsp %d %s\n", number, len(answer), answer); err != nil || command == "close" {
			return
		}
	}
}

// TestRunDeliversByRELP kills the service twice: the receiver gets all lines,
// some possibly twice, because RELP has no record numbers to compare.
func TestRunDeliversByRELP(t *testing.T) {
	r := startReceiver(t)
	var b bytes.Buffer
	c := small(t.TempDir(), &b)
	c.Kills, c.RELP = 2, r.Addr().String()
	if err := Run(context.Background(), c); err != nil {
		t.Fatalf("%v\n%s", err, &b)
	}
	logged, delivered := figure(b.String(), "logged"), figures(b.String(), "delivered")
	all, err := strconv.Atoi(strings.ReplaceAll(logged, ",", ""))
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || len(delivered) != 2 || delivered[0] != logged || len(r.lines) < all {
		t.Errorf("%s lines are logged, %v delivered, and the receiver has %d\n%s", logged, delivered, len(r.lines), &b)
	}
	wantRows(t, b.String(), map[string]string{"spooled": "0 0", "lost": "0 -", "duplicates": "0 -"})
}
