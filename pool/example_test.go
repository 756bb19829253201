// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"encoding/json"
	"errors"
	"expvar"
	"fmt"
	"os"

	"github.com/nib-log/nib/pool"
)

// Slices are kept as they are: neither Get nor Put allocates.
func ExamplePool() {
	frames := pool.New(func() []byte { return make([]byte, 0, 1500) }, pool.WithLimit(100))

	b := frames.Get()
	b = append(b, "a frame"...)
	fmt.Printf("%s, capacity %d\n", b, cap(b))
	frames.Put(b[:0])

	fmt.Printf("%+v\n", frames.Stats())
	// Output:
	// a frame, capacity 1500
	// {Gets:1 Hits:0 Puts:1 Dropped:0 Failed:0 Trimmed:0 Preallocated:0 Len:1}
}

// The zero Pool keeps values and makes none.
func ExamplePool_zero() {
	var numbers pool.Pool[int]
	fmt.Println(numbers.Get())
	numbers.Put(7)
	fmt.Println(numbers.Get())
	// Output:
	// 0
	// 7
}

// A request is erased when it is put. Its headers stay allocated.
type request struct {
	path    string
	headers map[string]string
	broken  bool
}

func (r *request) Erase() error {
	if r.broken {
		return errors.New("the request is broken")
	}
	r.path = ""
	clear(r.headers)
	return nil
}

func ExampleErasablePool() {
	requests := pool.NewErasable(func() *request {
		return &request{headers: make(map[string]string, 8)}
	})

	r := requests.Get()
	r.path, r.headers["Host"] = "/", "example.com"
	fmt.Println("put:", requests.Put(r))

	r = requests.Get()
	fmt.Printf("got: %q %v\n", r.path, r.headers)
	r.broken = true
	fmt.Println("put:", requests.Put(r))
	fmt.Println("idle:", requests.Stats().Len, "failed:", requests.Stats().Failed)
	// Output:
	// put: <nil>
	// got: "" map[]
	// put: the request is broken
	// idle: 0 failed: 1
}

// Bytes of any size, by handle.
func ExampleBuffers() {
	var buffers pool.Buffers

	b := buffers.Get(100)
	fmt.Println(len(b.B), cap(b.B))
	b.B = append(b.B, "appended, "...)
	fmt.Fprintf(b, "and written by fmt%c\n", '!') // grows with memory of the pool
	os.Stdout.Write(b.B)
	buffers.Put(b)
	// Output:
	// 0 128
	// appended, and written by fmt!
}

// Statistics of pools fit expvar.
func ExamplePool_Stats() {
	var lines pool.Pool[[]byte]
	lines.Put(make([]byte, 80))
	lines.Get()
	lines.Get()

	v := expvar.Func(func() any { return lines.Stats() })
	// expvar.Publish("lines", v)

	var s pool.Stats
	if err := json.Unmarshal([]byte(v.String()), &s); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%d of %d found\n", s.Hits, s.Gets)
	fmt.Println(v)
	// Output:
	// 1 of 2 found
	// {"gets":2,"hits":1,"puts":1,"dropped":0,"failed":0,"trimmed":0,"preallocated":0,"len":0}
}

func ExampleNewBuffers() {
	buffers := pool.NewBuffers(pool.BuffersConfig{MaxSize: 1 << 10, Limit: 2})
	buffers.Put(buffers.Get(100))
	buffers.Put(buffers.Get(1 << 20)) // larger than MaxSize: dropped
	st := buffers.Stats()
	fmt.Println(st.Puts, "puts,", st.Dropped, "dropped")
	// Output: 2 puts, 1 dropped
}
