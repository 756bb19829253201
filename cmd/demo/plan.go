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
type plan struct {
	requests    int
	connections int
}

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

// parseID returns the inverse of requestID. It accepts nothing else.
func (p plan) parseID(id string) (connection, n int, ok bool) {
	c, rest, ok := strings.Cut(strings.TrimPrefix(id, "c"), "-")
	if !ok {
		return 0, 0, false
	}
	connection, errC := strconv.Atoi(c)
	n, errN := strconv.Atoi(rest)
	ok = errC == nil && errN == nil && connection >= 0 && connection < p.connections &&
		n >= 0 && n < p.of(connection) && requestID(connection, n) == id
	return connection, n, ok
}
