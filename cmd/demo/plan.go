// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Messages of the two kinds of lines.
const (
	accessMessage  = "request"
	serviceMessage = "no answer from stock"
)

// A plan defines the requests. Each connection numbers its requests from 0, and
// the number determines everything about a request, so the file can be checked
// without a copy of the logged lines.
type plan struct{ requests, connections int }

// of returns the number of requests of a connection.
func (p plan) of(connection int) int {
	n := p.requests / p.connections
	if connection < p.requests%p.connections {
		n++
	}
	return n
}

// A reply is the answer to request n.
type reply struct {
	method string
	status int
	body   string
	logs   bool // the handler writes a line, too
}

var bodies = [...]string{"ok\n", strings.Repeat("lorem ipsum ", 20), "", "created\n"}

func expect(n int) reply {
	switch {
	case n%97 == 13:
		return reply{http.MethodGet, http.StatusInternalServerError, "stock is away\n", true}
	case n%31 == 7:
		return reply{http.MethodGet, http.StatusNotFound, "no such item\n", false}
	case n%7 == 3:
		return reply{http.MethodPost, http.StatusCreated, bodies[3], false}
	}
	return reply{http.MethodGet, http.StatusOK, bodies[n%3], false}
}

// level returns the level of the access line.
func (r reply) level() string {
	switch {
	case r.status >= 500:
		return "error"
	case r.status >= 400:
		return "warn"
	}
	return "info"
}

func itemPath(n int) string { return "/items/" + strconv.Itoa(n) }

// requestID names a request in its lines.
func requestID(connection, n int) string { return fmt.Sprintf("c%d-%d", connection, n) }

// keyOf returns the key of a line with a request ID and a message. It accepts
// nothing but what requestID returns.
func (p plan) keyOf(id, message string) (k key, ok bool) {
	n, _ := fmt.Sscanf(id, "c%d-%d", &k.connection, &k.n)
	if message == accessMessage {
		k.kind = accessLine
	}
	return k, n == 2 && k.connection >= 0 && k.connection < p.connections && k.n >= 0 &&
		k.n < p.of(k.connection) && requestID(k.connection, k.n) == id
}
