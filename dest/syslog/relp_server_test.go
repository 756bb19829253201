// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A command is a frame from a RELP client.
type command struct {
	number int
	name   string
	data   string
}

var commandPattern = regexp.MustCompile(`^([1-9][0-9]{0,8}) ([A-Za-z]{1,32}) (0|[1-9][0-9]{0,8})([ \n])$`)

// nextCommand reads a frame according to the specification of RELP,
// independently of parseFrame.
func nextCommand(b *bufio.Reader) (c command, err error) {
	head := ""
	for fields := 0; fields < 3; {
		ch, err := b.ReadByte()
		if err != nil {
			return c, err
		}
		if head += string(ch); ch == ' ' || ch == '\n' {
			fields++
		}
		if len(head) > 60 {
			return c, fmt.Errorf("frame begins with %q", head)
		}
	}
	m := commandPattern.FindStringSubmatch(head)
	if m == nil {
		return c, fmt.Errorf("frame begins with %q", head)
	}
	c.number, _ = strconv.Atoi(m[1])
	c.name = m[2]
	n, _ := strconv.Atoi(m[3])
	if (n == 0) != (m[4] == "\n") {
		return c, fmt.Errorf("frame begins with %q", head)
	}
	if n == 0 {
		return c, nil
	}
	data := make([]byte, n+1)
	if _, err := io.ReadFull(b, data); err != nil {
		return c, err
	}
	if data[n] != '\n' {
		return c, fmt.Errorf("frame %d does not end with a line feed", c.number)
	}
	c.data = string(data[:n])
	return c, nil
}

// errCut makes a relpServer end the connection.
var errCut = errors.New("cut")

// A relpServer answers commands. Tests set how it responds to syslog; the zero
// value accepts everything.
type relpServer struct {
	mu     sync.Mutex                            // held while syslog runs: connections may overlap
	open   string                                // the response to open; "" for the usual one
	syslog func(c command) (rsp string, e error) // "" for no response, or one or more whole frames
}

func accept(c command) string { return respond(c.number, "200 OK") }

func respond(number int, data string) string {
	return fmt.Sprintf("%d rsp %d %s\n", number, len(data), data)
}

const usualOffers = "200 OK\nrelp_version=0\nrelp_software=test\ncommands=syslog"

// handle is the handle function of a receiver.
func (s *relpServer) handle(r *receiver, conn net.Conn) {
	b := bufio.NewReader(conn)
	for want := 1; ; want = want%maxNumber + 1 {
		c, err := nextCommand(b)
		if err == nil && c.number != want {
			err = fmt.Errorf("frame has number %d, want %d", c.number, want)
		}
		if err != nil {
			if strings.HasPrefix(err.Error(), "frame") {
				r.fault(err)
			}
			return
		}
		rsp := ""
		switch {
		case c.name == "open" && want == 1:
			if rsp = s.open; rsp == "" {
				rsp = respond(1, usualOffers)
			}
		case c.name == "syslog" && s.syslog != nil:
			s.mu.Lock()
			rsp, err = s.syslog(c)
			s.mu.Unlock()
		case c.name == "syslog":
			rsp = accept(c)
		case c.name == "close":
			r.mu.Lock()
			r.closes++
			r.mu.Unlock()
			_, _ = io.WriteString(conn, fmt.Sprintf("%d rsp 0\n", c.number))
			_, _ = io.Copy(io.Discard, conn) // the client must end the connection
			return
		default:
			err = fmt.Errorf("command %s", c.name)
			r.fault(err)
		}
		if c.name == "syslog" && err == nil {
			r.got(c.data)
		}
		if _, werr := io.WriteString(conn, rsp); werr != nil || err != nil {
			return
		}
	}
}

// newRELP starts a receiver.
func newRELP(t testing.TB, s *relpServer) *receiver {
	t.Helper()
	return newReceiver(t, "tcp", s.handle).start()
}
