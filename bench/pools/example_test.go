// SPDX-License-Identifier: Apache-2.0

package pools_test

import (
	"bytes"
	"expvar"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/colega/zeropool"

	"github.com/nib-log/nib/pool"
)

// The code of docs/pools.md. A test compares the two.

var oldTexts = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func oldGreet(w io.Writer, name string) {
	b := oldTexts.Get().(*bytes.Buffer)
	b.Reset()
	fmt.Fprintf(b, "hello %s\n", name)
	_, _ = w.Write(b.Bytes())
	oldTexts.Put(b)
}

var texts = pool.New(func() *bytes.Buffer { return new(bytes.Buffer) })

func greet(w io.Writer, name string) {
	b := texts.Get()
	b.Reset()
	fmt.Fprintf(b, "hello %s\n", name)
	_, _ = w.Write(b.Bytes())
	texts.Put(b)
}

func Example_fromSyncPool() {
	oldGreet(os.Stdout, "sync.Pool")
	greet(os.Stdout, "nib")
	// Output:
	// hello sync.Pool
	// hello nib
}

var oldLines = zeropool.New(func() []byte { return make([]byte, 0, 512) })

func oldWrite(w io.Writer, text string) {
	line := append(oldLines.Get()[:0], text...)
	_, _ = w.Write(append(line, '\n'))
	oldLines.Put(line)
}

var lines = pool.New(func() []byte { return make([]byte, 0, 512) })

func write(w io.Writer, text string) {
	line := append(lines.Get()[:0], text...)
	_, _ = w.Write(append(line, '\n'))
	lines.Put(line)
}

func Example_fromZeropool() {
	oldWrite(os.Stdout, "a line")
	write(os.Stdout, "a line")
	// Output:
	// a line
	// a line
}

type session struct {
	user  string
	token [32]byte
}

func (s *session) Erase() error {
	*s = session{}
	return nil
}

var sessions = pool.NewErasable(func() *session { return new(session) }, pool.WithPrealloc(10))

func serve(user string) error {
	s := sessions.Get()
	s.user = user
	copy(s.token[:], "secret")
	return sessions.Put(s)
}

func Example_fromMempool() {
	fmt.Println(serve("ada"))
	s := sessions.Get()
	fmt.Printf("%q %v\n", s.user, s.token == [32]byte{})
	// Output:
	// <nil>
	// "" true
}

var buffers pool.Buffers

func page(w io.Writer, items []string) {
	b := buffers.Get(4096)
	for _, item := range items {
		_, _ = b.WriteString(item)
	}
	_, _ = w.Write(b.B)
	buffers.Put(b)
}

func Example_buffers() {
	page(os.Stdout, []string{"one ", "two ", "three\n"})
	fmt.Println(buffers.Stats().Len, "idle")
	// Output:
	// one two three
	// 1 idle
}

var limited = pool.New(func() []byte { return make([]byte, 0, 512) },
	pool.WithLimit(1000), pool.WithGCShrink())

func publish() {
	expvar.Publish("lines", expvar.Func(func() any { return limited.Stats() }))
}

func Example_stats() {
	publish()
	limited.Put(limited.Get())
	fmt.Println(strings.Contains(expvar.Get("lines").String(), `"puts":1`))
	fmt.Println(limited.Stats().Len, "idle")
	limited.Trim(0)
	fmt.Println(limited.Stats().Len, "idle")
	// Output:
	// true
	// 1 idle
	// 0 idle
}
