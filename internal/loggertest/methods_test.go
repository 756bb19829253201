// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/nib-log/nib"
)

// Values with methods, by pointers that are on the heap already.
type (
	textStringer struct{ s string }
	fieldObject  struct {
		name string
		n    int
	}
)

func (s *textStringer) String() string { return s.s }

func (o *fieldObject) MarshalNib(e *nib.Event) { e.Str("name", o.name).Int("n", o.n) }

var (
	aStringer  = &textStringer{"text"}
	anObject   = &fieldObject{"box", 7}
	errAny     = errors.New("broken")
	someErrors = []error{errAny, nil, errors.New("worse")}
	aTime      = time.Date(2024, 2, 29, 23, 59, 59, 123456789, time.UTC)
	someText   = []string{"a", "", "ünï"}
	anIP       = net.IPv4(10, 1, 2, 3)
	aNet       = net.IPNet{IP: net.IPv4(10, 0, 0, 0).To4(), Mask: net.CIDRMask(8, 32)}
	aMAC       = net.HardwareAddr{0, 1, 2, 0xab, 0xcd, 0xef}
	anAddr     = netip.MustParseAddr("2001:db8::1")
	anAddrPort = netip.MustParseAddrPort("10.1.2.3:80")
	aPrefix    = netip.MustParsePrefix("10.0.0.0/8")
)

// A method is one way to add a field, called with an ordinary value.
type method struct {
	name string
	add  func(e *nib.Event, key string)
	want string // the value as node.String shows it
}

// keyed are the methods of Event that take a key; TestMethodsAreComplete checks
// that none is missing.
var keyed = []method{
	{"Str", func(e *nib.Event, k string) { e.Str(k, "v") }, `"v"`},
	{"Strs", func(e *nib.Event, k string) { e.Strs(k, someText) }, `["a","","ünï"]`},
	{"Stringer", func(e *nib.Event, k string) { e.Stringer(k, aStringer) }, `"text"`},
	{"Bytes", func(e *nib.Event, k string) { e.Bytes(k, []byte("b")) }, `"b"`},
	{"Hex", func(e *nib.Event, k string) { e.Hex(k, []byte{1, 0xff}) }, `"01ff"`},
	{"Base64", func(e *nib.Event, k string) { e.Base64(k, []byte{1, 0xff}) }, `"Af8="`},
	{"RawJSON", func(e *nib.Event, k string) { e.RawJSON(k, []byte(` {"a": [1 , 2]} `)) }, `{"a":[1,2]}`},
	{"Bool", func(e *nib.Event, k string) { e.Bool(k, true) }, `true`},
	{"Bools", func(e *nib.Event, k string) { e.Bools(k, []bool{true, false}) }, `[true,false]`},
	{"Int", func(e *nib.Event, k string) { e.Int(k, -1) }, `-1`},
	{"Int8", func(e *nib.Event, k string) { e.Int8(k, -128) }, `-128`},
	{"Int16", func(e *nib.Event, k string) { e.Int16(k, -32768) }, `-32768`},
	{"Int32", func(e *nib.Event, k string) { e.Int32(k, -1<<31) }, `-2147483648`},
	{"Int64", func(e *nib.Event, k string) { e.Int64(k, -1<<63) }, `-9223372036854775808`},
	{"Uint", func(e *nib.Event, k string) { e.Uint(k, 0) }, `0`},
	{"Uint8", func(e *nib.Event, k string) { e.Uint8(k, 255) }, `255`},
	{"Uint16", func(e *nib.Event, k string) { e.Uint16(k, 65535) }, `65535`},
	{"Uint32", func(e *nib.Event, k string) { e.Uint32(k, 1<<32-1) }, `4294967295`},
	{"Uint64", func(e *nib.Event, k string) { e.Uint64(k, 1<<64-1) }, `18446744073709551615`},
	{"Ints", func(e *nib.Event, k string) { e.Ints(k, []int{1, -2}) }, `[1,-2]`},
	{"Ints8", func(e *nib.Event, k string) { e.Ints8(k, []int8{1, -2}) }, `[1,-2]`},
	{"Ints16", func(e *nib.Event, k string) { e.Ints16(k, []int16{1, -2}) }, `[1,-2]`},
	{"Ints32", func(e *nib.Event, k string) { e.Ints32(k, []int32{1, -2}) }, `[1,-2]`},
	{"Ints64", func(e *nib.Event, k string) { e.Ints64(k, []int64{1, -2}) }, `[1,-2]`},
	{"Uints", func(e *nib.Event, k string) { e.Uints(k, []uint{1, 2}) }, `[1,2]`},
	{"Uints8", func(e *nib.Event, k string) { e.Uints8(k, []uint8{1, 2}) }, `[1,2]`},
	{"Uints16", func(e *nib.Event, k string) { e.Uints16(k, []uint16{1, 2}) }, `[1,2]`},
	{"Uints32", func(e *nib.Event, k string) { e.Uints32(k, []uint32{1, 2}) }, `[1,2]`},
	{"Uints64", func(e *nib.Event, k string) { e.Uints64(k, []uint64{1, 2}) }, `[1,2]`},
	{"Float32", func(e *nib.Event, k string) { e.Float32(k, 0.1) }, `0.1`},
	{"Float64", func(e *nib.Event, k string) { e.Float64(k, 0.1) }, `0.1`},
	{"Floats32", func(e *nib.Event, k string) { e.Floats32(k, []float32{0.1, 2}) }, `[0.1,2]`},
	{"Floats64", func(e *nib.Event, k string) { e.Floats64(k, []float64{0.1, 2}) }, `[0.1,2]`},
	{"Time", func(e *nib.Event, k string) { e.Time(k, aTime) }, `"2024-02-29T23:59:59.123Z"`},
	{"Times", func(e *nib.Event, k string) { e.Times(k, []time.Time{aTime}) }, `["2024-02-29T23:59:59.123Z"]`},
	{"Dur", func(e *nib.Event, k string) { e.Dur(k, 1500*time.Microsecond) }, `1.5`},
	{"Durs", func(e *nib.Event, k string) { e.Durs(k, []time.Duration{-1}) }, `[-0.000001]`},
	{"TimeDiff", func(e *nib.Event, k string) { e.TimeDiff(k, aTime, aTime.Add(time.Second)) }, `-1000`},
	{"AnErr", func(e *nib.Event, k string) { e.AnErr(k, errAny) }, `"broken"`},
	{"Errs", func(e *nib.Event, k string) { e.Errs(k, someErrors) }, `["broken",null,"worse"]`},
	{"Type", func(e *nib.Event, k string) { e.Type(k, anObject) }, `"*loggertest_test.fieldObject"`},
	{"Any", func(e *nib.Event, k string) { e.Any(k, []any{1, "x", nil}) }, `[1,"x",null]`},
	{"Fields", func(e *nib.Event, k string) { e.Fields(map[string]any{k: 1}) }, `1`},
	{"IPAddr", func(e *nib.Event, k string) { e.IPAddr(k, anIP) }, `"10.1.2.3"`},
	{"IPPrefix", func(e *nib.Event, k string) { e.IPPrefix(k, aNet) }, `"10.0.0.0/8"`},
	{"MACAddr", func(e *nib.Event, k string) { e.MACAddr(k, aMAC) }, `"00:01:02:ab:cd:ef"`},
	{"Addr", func(e *nib.Event, k string) { e.Addr(k, anAddr) }, `"2001:db8::1"`},
	{"AddrPort", func(e *nib.Event, k string) { e.AddrPort(k, anAddrPort) }, `"10.1.2.3:80"`},
	{"Prefix", func(e *nib.Event, k string) { e.Prefix(k, aPrefix) }, `"10.0.0.0/8"`},
	{"Attrs", func(e *nib.Event, k string) { e.Attrs(slog.Bool(k, true)) }, `true`},
	{"Dict", func(e *nib.Event, k string) { e.Dict(k, func(d *nib.Event) { d.Str("a", "b") }) }, `{"a":"b"}`},
	{"Array", func(e *nib.Event, k string) { e.Array(k, func(a *nib.Array) { a.Int(1).Str("b") }) }, `[1,"b"]`},
	{"Object", func(e *nib.Event, k string) { e.Object(k, anObject) }, `{"name":"box","n":7}`},
	{"Stringers", func(e *nib.Event, k string) { e.Stringers(k, stringers(aStringer, nil)) }, `["text",null]`},
}

// keyless are the other methods that add to an event or read it.
var keyless = []method{
	{"Err", func(e *nib.Event, _ string) { e.Err(errAny) }, ""},
	{"Timestamp", func(e *nib.Event, _ string) { e.Timestamp() }, ""},
	{"Caller", func(e *nib.Event, _ string) { e.Caller() }, ""},
	{"CallerSkipFrame", func(e *nib.Event, _ string) { e.CallerSkipFrame(1) }, ""},
	{"Stack", func(e *nib.Event, _ string) { e.Stack() }, ""},
	{"Ctx", func(e *nib.Event, _ string) { e.Ctx(context.Background()) }, ""},
	{"EmbedObject", func(e *nib.Event, _ string) { e.EmbedObject(anObject) }, ""},
	{"Func", func(e *nib.Event, _ string) { e.Func(func(e *nib.Event) { e.Str("in", "func") }) }, ""},
	{"Discard", func(e *nib.Event, _ string) { e.Discard() }, ""},
	{"Enabled", func(e *nib.Event, _ string) { e.Enabled() }, ""},
	{"Lookup", func(e *nib.Event, _ string) { e.Lookup("k") }, ""},
}

// endings finish an event.
var endings = []method{
	{"Msg", func(e *nib.Event, _ string) { e.Msg("m") }, ""},
	{"Msgf", func(e *nib.Event, _ string) { e.Msgf("%s", "m") }, ""},
	{"MsgFunc", func(e *nib.Event, _ string) { e.MsgFunc(func() string { return "m" }) }, ""},
	{"Send", func(e *nib.Event, _ string) { e.Send() }, ""},
}

// elements are the methods of Array.
var elements = []struct {
	name string
	add  func(a *nib.Array)
	want string
}{
	{"Str", func(a *nib.Array) { a.Str("v") }, `"v"`},
	{"Int", func(a *nib.Array) { a.Int(-1) }, `-1`},
	{"Uint", func(a *nib.Array) { a.Uint(1) }, `1`},
	{"Float", func(a *nib.Array) { a.Float(0.1) }, `0.1`},
	{"Bool", func(a *nib.Array) { a.Bool(false) }, `false`},
	{"Time", func(a *nib.Array) { a.Time(aTime) }, `"2024-02-29T23:59:59.123Z"`},
	{"Dur", func(a *nib.Array) { a.Dur(time.Second) }, `1000`},
	{"Err", func(a *nib.Array) { a.Err(errAny) }, `"broken"`},
	{"Any", func(a *nib.Array) { a.Any(map[string]any{"x": 1}) }, `{"x":1}`},
	{"Object", func(a *nib.Array) { a.Object(anObject) }, `{"name":"box","n":7}`},
	{"Dict", func(a *nib.Array) { a.Dict(func(e *nib.Event) { e.Str("time", "t") }) }, `{"time":"t"}`},
	{"Array", func(a *nib.Array) { a.Array(func(b *nib.Array) { b.Null() }) }, `[null]`},
	{"Null", func(a *nib.Array) { a.Null() }, `null`},
}

// TestMethodsAreComplete keeps the tables above in step with the package: a
// method that is not in them is not tested.
func TestMethodsAreComplete(t *testing.T) {
	have := map[string]bool{}
	for _, table := range [][]method{keyed, keyless, endings} {
		for _, m := range table {
			have["Event."+m.name] = true
		}
	}
	for _, m := range elements {
		have["Array."+m.name] = true
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[*nib.Event](), reflect.TypeFor[*nib.Array]()} {
		for i := range typ.NumMethod() {
			name := typ.Elem().Name() + "." + typ.Method(i).Name
			if !have[name] {
				t.Errorf("%s is in no table", name)
			}
		}
	}
}

func TestEveryMethodWritesItsValue(t *testing.T) {
	for _, m := range keyed {
		if got := value(t, func(e *nib.Event) { m.add(e, "k") }); got.String() != m.want {
			t.Errorf("%s\n got %s\nwant %s", m.name, got, m.want)
		}
	}
	for _, m := range elements {
		got := value(t, func(e *nib.Event) { e.Array("k", m.add) })
		if want := "[" + m.want + "]"; got.String() != want {
			t.Errorf("Array.%s\n got %s\nwant %s", m.name, got, want)
		}
	}
}

func TestEveryMethodOfANilEventDoesNothing(t *testing.T) {
	for _, table := range [][]method{keyed, keyless, endings} {
		for _, m := range table {
			m.add(nil, "k")
		}
	}
	for _, m := range elements {
		m.add(nil)
	}
}

func TestEveryMethodWorksAsFirstAndLastField(t *testing.T) {
	bare := nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey, LevelKey: nib.OmitKey, MessageKey: nib.OmitKey})
	for _, first := range keyed {
		for _, last := range keyed {
			l, c := newCapture(t, bare)
			e := l.Info()
			first.add(e, "a")
			last.add(e, "b")
			e.Msg("")
			want := `{"a":` + first.want + `,"b":` + last.want + `}`
			if got := c.one().String(); got != want {
				t.Errorf("%s, %s\n got %s\nwant %s", first.name, last.name, got, want)
			}
		}
	}
}
