// SPDX-License-Identifier: Apache-2.0

// Package sample2 is a second set of small cases: code as it stands in hot
// paths, of which it is not obvious whether it allocates. A line that does has
// a comment that names the entry of the catalogue that must be given as
// the reason. Which lines do is measured, not taken from the comments.
package sample2

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"
)

// Values that the compiler does not know.
var (
	n5     = 5
	n20    = 20
	n300   = 300
	n1000  = 1000
	f15    = 1.5
	yes    = true
	small  = "hello"
	upper  = "HELLO"
	long   = strings.Repeat("long ", 12)
	lower  = strings.Repeat("x", 40)
	bytes5 = []byte("hello")
	bytes9 = []byte(strings.Repeat("y", 90))
	line   = []byte("GET /index.html HTTP/1.1 host=example.com status=200")
	moment = time.Unix(1700000000, 123456789)
	base   = errors.New("base")
	other  = errors.New("other")
	bg     = context.Background()
	names  = map[string]int{"hello": 1, "b": 2, "c": 3}
	pairs  = map[pair]int{{"hello", 5}: 1}
	anyMap = map[any]int{1000: 1, "hello": 2}
	ints   = []int{5, 3, 8, 1}
	huge   wide
	item   = &node{Value: 1}
)

// Places that values are kept in.
var (
	intOut    int
	textOut   string
	bytesOut  []byte
	anyOut    any
	errOut    error
	ptrOut    *int
	pairOut   *pair
	nodeOut   *node
	funcOut   func() int
	intsOut   []int
	textsOut  []string
	gridOut   [][]int
	runesOut  []rune
	ctxOut    context.Context
	readerOut io.Reader
	buffer    = make([]byte, 0, 4096)
)

type pair struct {
	name string
	n    int
}

type node struct {
	Value int
	next  *node
}

func (n *node) get() int      { return n.Value }
func (n *node) add(x int)     { n.Value += x }
func (n node) sum(x int) int  { return n.Value + x }
func (p pair) String() string { return p.name }
func (p *pair) Error() string { return p.name }
func (p pair) size() int      { return len(p.name) + p.n }
func (p pair) keep() *pair    { return &p }
func (w *wide) first() int    { return w.data[0] }
func (w wide) second() int    { return w.data[1] }

// wide is larger than what fits into registers.
type wide struct{ data [512]int }

type empty struct{}

type single struct{ p *int }

// sizer is an interface with a value method behind it.
type sizer interface{ size() int }

type writer interface{ Write(b []byte) (int, error) }

type discard struct{ n int }

func (d *discard) Write(b []byte) (int, error) {
	d.n += len(b)
	return len(b), nil
}

// keeper keeps what it is given, behind an interface.
type keeper interface{ Keep(args ...any) }

type lastArgs struct{ args []any }

func (k *lastArgs) Keep(args ...any) { k.args = args }

var (
	out  writer = &discard{}
	sink keeper = &lastArgs{}
	mu   sync.Mutex
)

//go:noinline
func call(f func() int) int { return f() }

//go:noinline
func length(s string) int { return len(s) }

//go:noinline
func lengthOf(v any) int {
	if s, ok := v.(string); ok {
		return len(s)
	}
	return 0
}

//go:noinline
func total(values ...int) int {
	n := 0
	for _, v := range values {
		n += v
	}
	return n
}
