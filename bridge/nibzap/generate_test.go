// SPDX-License-Identifier: Apache-2.0

package nibzap_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// A generator makes fields from the bytes of an input. At its end, it makes the
// simplest one.
type generator struct {
	data []byte
	// spaces reports whether marshalers open namespaces. Then there are no
	// equal keys, which would not all be written, and no fields that fail.
	spaces bool
}

func (g *generator) byte() byte {
	if len(g.data) == 0 {
		return 0
	}
	b := g.data[0]
	g.data = g.data[1:]
	return b
}

func (g *generator) intn(n int) int { return int(g.byte()) % n }

func (g *generator) uint64() (n uint64) {
	for range 1 + g.intn(8) {
		n = n<<8 | uint64(g.byte())
	}
	return n
}

var texts = []string{"", "a", "plain text", `quoted " and \ back`, "line\nbreak\ttab", "\x00\x1f\x7f", "ünïcödé 漢字 🎉", "\xff\xfe bad", "<&>", "\u2028\u202e"}

func (g *generator) text() string {
	if g.intn(4) == 0 {
		n := g.intn(12)
		b := make([]byte, n)
		for i := range b {
			b[i] = g.byte()
		}
		return string(b)
	}
	return texts[g.intn(len(texts))]
}

var keys = []string{"a", "b", "c", "d", "key with space", `k"q`, "ключ", "", "long_key_of_a_field", "e"}

func (g *generator) key() string { return keys[g.intn(len(keys))] }

func (g *generator) float() float64 {
	floats := []float64{0, 1, -1, 0.5, 1e21, 1e-9, math.Pi, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64}
	if i := g.intn(len(floats) + 2); i < len(floats) {
		return floats[i]
	}
	return float64(int64(g.uint64())) / 1000
}

func (g *generator) time() time.Time {
	switch g.intn(4) {
	case 0:
		return time.Date(1, 2, 3, 4, 5, 6, 0, time.UTC) // which zap keeps as a time.Time
	case 1:
		return time.Unix(int64(g.uint64()>>32), int64(g.byte())*1e6).In(time.FixedZone("X", 3600*g.intn(12)))
	}
	return time.Unix(int64(g.uint64()>>32), 0)
}

type stringer struct{ text string }

func (s *stringer) String() string { return s.text }

type panics struct{}

func (panics) String() string { panic("boom") }

type rich struct{ text string }

func (r rich) Error() string { return r.text }

func (r rich) Format(f fmt.State, verb rune) {
	_, _ = io.WriteString(f, r.text)
	if f.Flag('+') {
		_, _ = io.WriteString(f, "\nat main.go:1")
	}
}

type group []error

func (g group) Error() string   { return errors.Join(g...).Error() }
func (g group) Errors() []error { return g }

// An object adds fields as a marshaler would, and then fails, perhaps.
type object struct {
	fields []zapcore.Field
	err    error
}

func (o object) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	for _, f := range o.fields {
		f.AddTo(enc)
	}
	return o.err
}

func (g *generator) object(depth int) object {
	o := object{fields: g.fields(depth + 1)}
	if g.intn(6) == 0 {
		o.err = errors.New("object failed")
	}
	return o
}

// An array has elements of every kind.
type array struct {
	elements []func(enc zapcore.ArrayEncoder) error
	err      error
}

func (a array) MarshalLogArray(enc zapcore.ArrayEncoder) error {
	for _, add := range a.elements {
		if err := add(enc); err != nil {
			return err
		}
	}
	return a.err
}

func nothing(f func(enc zapcore.ArrayEncoder)) func(zapcore.ArrayEncoder) error {
	return func(enc zapcore.ArrayEncoder) error { f(enc); return nil }
}

func (g *generator) element(depth int) func(enc zapcore.ArrayEncoder) error {
	n, f, s, t := g.uint64(), g.float(), g.text(), g.time()
	simple := []func(zapcore.ArrayEncoder){
		func(enc zapcore.ArrayEncoder) { enc.AppendBool(n%2 == 0) },
		func(enc zapcore.ArrayEncoder) { enc.AppendByteString([]byte(s)) },
		func(enc zapcore.ArrayEncoder) { enc.AppendComplex128(complex(float64(n), -2)) },
		func(enc zapcore.ArrayEncoder) { enc.AppendComplex64(complex(1, float32(n%9))) },
		func(enc zapcore.ArrayEncoder) { enc.AppendFloat64(f) },
		func(enc zapcore.ArrayEncoder) { enc.AppendFloat32(float32(f)) },
		func(enc zapcore.ArrayEncoder) { enc.AppendInt(int(n)) },
		func(enc zapcore.ArrayEncoder) { enc.AppendInt64(int64(n)) },
		func(enc zapcore.ArrayEncoder) { enc.AppendInt32(int32(n)) },
		func(enc zapcore.ArrayEncoder) { enc.AppendInt16(int16(n)) },
		func(enc zapcore.ArrayEncoder) { enc.AppendInt8(int8(n)) },
		func(enc zapcore.ArrayEncoder) { enc.AppendString(s) },
		func(enc zapcore.ArrayEncoder) { enc.AppendUint(uint(n)) },
		func(enc zapcore.ArrayEncoder) { enc.AppendUint64(n) },
		func(enc zapcore.ArrayEncoder) { enc.AppendUint32(uint32(n)) },
		func(enc zapcore.ArrayEncoder) { enc.AppendUint16(uint16(n)) },
		func(enc zapcore.ArrayEncoder) { enc.AppendUint8(uint8(n)) },
		func(enc zapcore.ArrayEncoder) { enc.AppendUintptr(uintptr(n)) },
		func(enc zapcore.ArrayEncoder) { enc.AppendDuration(time.Duration(n)) },
		func(enc zapcore.ArrayEncoder) { enc.AppendTime(t) },
	}
	switch i := g.intn(len(simple) + 3); {
	case i < len(simple):
		return nothing(simple[i])
	case i == len(simple):
		return func(enc zapcore.ArrayEncoder) error { return enc.AppendReflected(map[string]int{"n": int(n)}) }
	case i == len(simple)+1:
		a := g.array(depth + 1)
		return func(enc zapcore.ArrayEncoder) error { return enc.AppendArray(a) }
	default:
		o := g.object(depth + 1)
		return func(enc zapcore.ArrayEncoder) error { return enc.AppendObject(o) }
	}
}

func (g *generator) array(depth int) (a array) {
	if depth < 3 {
		for range g.intn(4) {
			a.elements = append(a.elements, g.element(depth))
		}
	}
	if g.intn(8) == 0 {
		a.err = errors.New("array failed")
	}
	return a
}

func (g *generator) fields(depth int) (list []zapcore.Field) {
	if depth > 3 {
		return nil
	}
	for range g.intn(6) {
		list = append(list, g.field(depth))
	}
	if depth > 0 {
		seen := map[string]bool{}
		list = slices.DeleteFunc(list, func(f zapcore.Field) bool {
			if !g.spaces {
				return f.Type == zapcore.NamespaceType
			}
			_, isChan := f.Interface.(chan int)
			again := seen[f.Key]
			seen[f.Key] = true
			return again || isChan || f.Type == zapcore.InlineMarshalerType || f.Interface == panics{}
		})
	}
	return list
}

func (g *generator) field(depth int) zapcore.Field {
	k := g.key()
	switch g.intn(4) {
	case 0:
		return g.nested(k, depth)
	case 1:
		return g.value(k)
	}
	return g.number(k)
}

// nested makes a field with marshalers.
func (g *generator) nested(k string, depth int) zapcore.Field {
	switch g.intn(8) {
	case 0:
		return zap.Namespace("in " + k)
	case 1:
		return zap.Inline(g.object(depth))
	case 2:
		return zap.Object(k, g.object(depth))
	case 3:
		return zap.Array(k, g.array(depth))
	case 4:
		return zap.Dict(k, g.fields(depth+1)...)
	case 5:
		return zap.Objects(k, []object{g.object(depth), g.object(depth)})
	case 6:
		return zap.Errors(k, []error{errors.New(g.text()), nil, rich{"r"}})
	}
	return zap.Error(group{errors.New("x"), rich{"y"}})
}

// value makes a field of any other type except a number.
func (g *generator) value(k string) zapcore.Field {
	s := g.text()
	switch g.intn(20) {
	case 0:
		return zap.Binary(k, []byte(s))
	case 1:
		return zap.ByteString(k, []byte(s))
	case 2:
		return zap.Bool(k, g.byte() > 99)
	case 3:
		return zap.Time(k, g.time())
	case 4:
		return zap.Stringer(k, &stringer{s})
	case 5:
		return zap.Stringer(k, (*stringer)(nil))
	case 6:
		return zap.Stringer(k, panics{})
	case 7:
		return zap.Error(errors.New(s))
	case 8:
		return zap.Error(rich{s})
	case 9:
		return zap.NamedError(k, errors.New(s))
	case 10:
		return zap.Skip()
	case 11:
		return zap.Reflect(k, map[string]any{"s": s, "n": g.byte(), "l": []int{1, 2}})
	case 12:
		return zap.Reflect(k, struct {
			A string `json:"a"`
			B *int   `json:"b,omitempty"`
		}{A: s})
	case 13:
		return zap.Reflect(k, nil)
	case 14:
		return zap.Reflect(k, make(chan int))
	case 15:
		return zap.Strings(k, []string{s, g.text()})
	case 16:
		return zap.Any(k, net.IPv4(10, 0, 0, g.byte()))
	case 17:
		return zap.Boolp(k, nil)
	case 18:
		return zap.Times(k, []time.Time{g.time()})
	}
	return zap.String(k, s)
}

// number makes a field of a number or of numbers.
func (g *generator) number(k string) zapcore.Field {
	n, f := g.uint64(), g.float()
	switch g.intn(20) {
	case 0:
		return zap.Complex128(k, complex(f, float64(int8(n))))
	case 1:
		return zap.Complex64(k, complex(float32(int16(n)), -1.5))
	case 2:
		return zap.Duration(k, time.Duration(n))
	case 3:
		return zap.Float64(k, f)
	case 4:
		return zap.Float32(k, float32(f))
	case 5:
		return zap.Int64(k, int64(n))
	case 6:
		return zap.Int32(k, int32(n))
	case 7:
		return zap.Int16(k, int16(n))
	case 8:
		return zap.Int8(k, int8(n))
	case 9:
		return zap.Uint64(k, n)
	case 10:
		return zap.Uint32(k, uint32(n))
	case 11:
		return zap.Uint16(k, uint16(n))
	case 12:
		return zap.Uint8(k, uint8(n))
	case 13:
		return zap.Uintptr(k, uintptr(n))
	case 14:
		return zap.Durations(k, []time.Duration{time.Duration(n)})
	case 15:
		return zap.Float32s(k, []float32{float32(f)})
	case 16:
		return zap.Any(k, []any{n, f > 0, "x"})
	case 17:
		return zap.Uint(k, uint(n))
	}
	return zap.Int(k, int(n))
}
