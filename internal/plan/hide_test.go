// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nib-log/nib/internal/must"
)

// deep is a marshaler that needs so much stack that the stack is moved, and
// then collects garbage.
type deep struct{ frames int }

func (d *deep) MarshalJSON() ([]byte, error) { return []byte(fmt.Sprint(useStack(d.frames))), nil }

var collections atomic.Uint32 // a collection in each call would take seconds

//go:noinline
func useStack(n int) int {
	var frame [256]byte
	if n == 0 {
		if collections.Add(1)%8 == 0 {
			runtime.GC()
		}
		return 0
	}
	frame[n%256] = 1
	return useStack(n-1) + int(frame[n%256])
}

// onStack is hideable; everything in it is read after the stack has moved.
type onStack struct {
	Before [8]int
	Deep   any
	Text   string
	Map    map[string]*string
	Inner  struct {
		Pointer *onStack
		Deep    *deep
		Floats  [3]float64
	}
	One   struct{ P *string }
	After []any
	Last  int
}

func makeOnStack(seed, frames int) onStack {
	text := strings.Repeat(fmt.Sprint("text", seed), 3)
	v := onStack{Deep: &deep{frames}, Text: text, Map: map[string]*string{"a": &text, text: &text}, After: []any{text, &deep{frames / 2}, struct{ P *string }{&text}}, Last: seed}
	v.Before[3], v.Inner.Floats[2], v.Inner.Deep = seed, float64(seed)/8, &deep{frames * 2}
	v.One.P = &text
	v.Inner.Pointer = &onStack{Last: -seed}
	return v
}

// TestValuesOnAStackThatMoves encodes values on the stacks of new goroutines,
// which grow and move during the encoding.
func TestValuesOnAStackThatMoves(t *testing.T) {
	if !For[onStack]().Hideable() {
		t.Fatal("got a type that is not hideable")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	var wg sync.WaitGroup
	for g := range 4 {
		for i := range 32 {
			frames := 1 << (i % 8)
			kept := makeOnStack(1000*g+i, frames)
			want, err := json.Marshal(&kept)
			must.Succeed(t, err)
			wg.Add(1)
			go func() {
				defer wg.Done()
				v := kept // on this goroutine's stack
				got, err := appendValue(nil, v, MaxDepth)
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("got  %s %v\nwant %s", got, err, want)
				}
			}()
		}
		wg.Wait()
	}
}

// TestStackThatMovesAnywhere encodes a small value at each depth of a new
// stack, so that it grows at each instruction where a stack can grow. At one
// depth, that is while the address of the value is a number.
func TestStackThatMovesAnywhere(t *testing.T) {
	type pair struct{ A, B int }
	p := For[pair]() // here: it needs more of the stack than what is tested
	var nest func(dst []byte, n int) ([]byte, error)
	nest = func(dst []byte, n int) ([]byte, error) {
		if n > 0 {
			return nest(dst, n-1)
		}
		return AppendFieldsOf(p, dst, pair{1, 2}, at(MaxDepth))
	}
	for fill, use := range []func(func()){
		func(f func()) { f() }, useFrame[[16]byte], useFrame[[32]byte], useFrame[[48]byte],
		useFrame[[64]byte], useFrame[[80]byte], useFrame[[96]byte], useFrame[[112]byte],
	} {
		for n := range 300 { // of at least 100 bytes: more than the first stack has
			done, dst := make(chan bool), make([]byte, 1, 64)
			go use(func() {
				defer close(done)
				if got, err := nest(dst, n); err != nil || string(got[1:]) != `,"A":1,"B":2` {
					t.Errorf("frame %d, depth %d: got %s and %v", fill, n, got, err)
				}
			})
			<-done
		}
	}
}

// useFrame calls f from a frame that a T is in.
//
//go:noinline
func useFrame[T any](f func()) {
	var frame T
	f()
	runtime.KeepAlive(&frame)
}

func TestInterfaceWordsOnAStackThatMoves(t *testing.T) {
	text := "text"
	values := []any{&deep{200}, struct{ D *deep }{&deep{300}}, [1]*deep{{100}}, struct{ P *string }{&text}, map[string]*deep{"a": {150}}, padded{}}
	for range 5 {
		for _, v := range values {
			want, err := oracle(v)
			must.Succeed(t, err)
			done := make(chan bool)
			go func() {
				defer close(done)
				if got, err := AppendAny(nil, v, top); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%T: got %s and %v, want %s", v, got, err, want)
				}
			}()
			<-done
		}
	}
}

// keeper is a marshaler that keeps its receiver.
type keeper struct {
	N    int
	Self *keeper `json:"-"`
}

var keptReceivers []*keeper

func (k *keeper) MarshalText() ([]byte, error) {
	keptReceivers = append(keptReceivers, k)
	return []byte("kept"), nil
}

func TestMethodsMayKeepTheReceiver(t *testing.T) {
	keptReceivers = nil
	for i := range 100 {
		v := struct {
			K [2]keeper
			L any
		}{K: [2]keeper{{N: i}, {N: -i}}}
		if _, err := appendValue(nil, v, MaxDepth); err != nil {
			t.Fatal(err)
		}
		useStack(50)
	}
	for i, k := range keptReceivers {
		if want := i / 2 * (1 - i%2*2); k.N != want {
			t.Errorf("receiver %d: got %d, want %d", i, k.N, want)
		}
	}
}

// appendValue is AppendValue with the standard plan.
func appendValue[T any](dst []byte, v T, depth int) ([]byte, error) {
	return AppendValue(For[T](), dst, v, at(depth))
}
