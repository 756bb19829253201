// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// bytesSource turns the input of a fuzz target into random numbers: as long as
// there is input, each number is a part of it.
type bytesSource struct {
	input []byte
	rest  *rand.PCG
}

func (s *bytesSource) Uint64() uint64 {
	if len(s.input) == 0 {
		return s.rest.Uint64()
	}
	var b [8]byte
	n := copy(b[:2], s.input)
	s.input = s.input[n:]
	// The generator uses the upper bits for small numbers.
	return binary.LittleEndian.Uint64(b[:]) * 0x9E3779B97F4A7C15
}

// FuzzAgainstEncodingJSON makes a type and a value from the input and compares
// their encodings.
func FuzzAgainstEncodingJSON(f *testing.F) {
	f.Add([]byte("seed"), false)
	f.Add([]byte("another, longer seed for more of the fields"), true)
	f.Fuzz(func(t *testing.T, input []byte, hostile bool) {
		g := &generator{Rand: rand.New(&bytesSource{input, rand.NewPCG(uint64(len(input)), 7)})}
		typ := g.structType(2)
		g.hostile = hostile
		v := g.value(typ)
		if hostile {
			checkHostile(t, v.Addr().Interface())
			return
		}
		if why := differ(v, bytes.Equal); why != "" {
			t.Errorf("%v: %s", typ, why)
		}
	})
}

// checkHostile compares texts that may differ in how they are escaped. A value
// that encoding/json refuses only for NaN must still be JSON in one line.
func checkHostile(t *testing.T, v any) {
	got, err := AppendAny(nil, v, at(1000))
	if err != nil {
		t.Fatalf("%T: %v", v, err)
	}
	if !json.Valid(got) || bytes.IndexByte(got, '\n') >= 0 {
		t.Errorf("%T: got %q, want JSON in one line", v, got)
	}
	if want, err := oracle(v); err == nil && !sameValue(got, want) {
		t.Errorf("%T:\ngot  %s\nwant %s", v, got, want)
	}
}
