// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/seed"
)

func TestAnyOfEachIntegerType(t *testing.T) {
	for _, v := range []any{
		math.MinInt, math.MaxInt, int8(math.MinInt8), int8(math.MaxInt8), int16(math.MinInt16), int16(math.MaxInt16),
		int32(math.MinInt32), int32(math.MaxInt32), int64(math.MinInt64), int64(math.MaxInt64), uint(math.MaxUint),
		uint8(math.MaxUint8), uint16(math.MaxUint16), uint32(math.MaxUint32), uint64(math.MaxUint64), uintptr(math.MaxUint),
	} {
		got := value(t, func(e *nib.Event) { e.Any("k", []any{v, v}) })
		if want := fmt.Sprintf("[%d,%d]", v, v); got.String() != want {
			t.Errorf("%T: got %s, want %s", v, got, want)
		}
	}
}

func hostileFloats(t *testing.T) []float64 {
	t.Helper()
	floats := []float64{
		0, math.Copysign(0, -1), 0.1, 0.2, 0.3, 1, 1.5, 1e-6, 9.999999e-7, 1e-7, 1e15, 1e15 - 1, 1e15 + 0.125, 1e16, 1e20, 1e21, 1e22, 123456789.123456789,
		math.MaxFloat64, math.SmallestNonzeroFloat64, math.MaxFloat32, math.SmallestNonzeroFloat32, 1 << 24, 1<<24 + 1, 1 << 53, 1<<53 + 1,
		1.0 / 3, 2.0 / 3, 5e-324, 2.2250738585072014e-308, 4.35, 0.000001, 1.0000000000000002, 99999999999999.99, 999999999999999.9, 562949953421312.4,
	}
	n := seed.Times(200_000, 20_000, 2_000)
	r := rand.New(rand.NewPCG(seed.Of(t), 2))
	for range n {
		floats = append(floats, math.Float64frombits(r.Uint64()), float64(r.IntN(1e9))/math.Pow10(r.IntN(12)), r.NormFloat64())
	}
	return floats
}

func TestFloatsKeepEveryBit(t *testing.T) {
	l, c := newCapture(t)
	for _, f := range hostileFloats(t) {
		f32 := float32(f)
		l.Log().Float64("a", f).Float32("b", f32).Floats64("c", []float64{f}).Floats32("d", []float32{f32}).
			Array("e", func(a *nib.Array) { a.Float(f) }).Any("f", f).Any("g", f32).Send()
		v := c.one()
		for key, bits := range map[string]int{"a": 64, "b": 32, "c": 64, "d": 32, "e": 64, "f": 64, "g": 32} {
			got, in := v.get(key), f
			if got.kind == '[' {
				got = got.kids[0]
			}
			if bits == 32 {
				in = float64(f32)
			}
			if want := floatText(in, bits); got.text != want {
				t.Errorf("%s of %v (%#x)\n got %s\nwant %s", key, in, math.Float64bits(in), got.text, want)
			}
		}
	}
}

// floatText formats as encoding/json does, and values that encoding/json
// refuses as text.
func floatText(f float64, bits int) string {
	switch {
	case f != f:
		return "NaN"
	case f > math.MaxFloat64:
		return "+Inf"
	case f < -math.MaxFloat64:
		return "-Inf"
	}
	var v any = f
	if bits == 32 {
		v = float32(f)
	}
	b, _ := json.Marshal(v)
	return string(b)
}

func TestFloatsThatAreNoNumbersAreStrings(t *testing.T) {
	for text, f := range map[string]float64{"NaN": math.NaN(), "+Inf": math.Inf(1), "-Inf": math.Inf(-1)} {
		for name, add := range map[string]func(*nib.Event){
			"Float64":     func(e *nib.Event) { e.Float64("k", f) },
			"Float32":     func(e *nib.Event) { e.Float32("k", float32(f)) },
			"Any":         func(e *nib.Event) { e.Any("k", f) },
			"Any float32": func(e *nib.Event) { e.Any("k", float32(f)) },
			"Any struct":  func(e *nib.Event) { e.Any("k", struct{ F float64 }{f}) },
		} {
			want := strconv.Quote(text)
			if name == "Any struct" {
				want = `{"F":` + strconv.Quote(text) + `}`
			}
			if got := value(t, add).String(); got != want {
				t.Errorf("%s(%v)\n got %s\nwant %s", name, f, got, want)
			}
		}
	}
}

func TestIntegersAreExact(t *testing.T) {
	for _, n := range []int64{0, 1, -1, 9, 10, 99, 100, 1<<53 + 1, math.MaxInt64, math.MinInt64} {
		want := strconv.FormatInt(n, 10)
		for name, add := range map[string]func(*nib.Event){
			"Int64": func(e *nib.Event) { e.Int64("k", n) }, "Any": func(e *nib.Event) { e.Any("k", n) },
			"RawJSON": func(e *nib.Event) { e.RawJSON("k", []byte(want)) },
			"json":    func(e *nib.Event) { type named int64; e.Any("k", named(n)) },
		} {
			if got := value(t, add); got.text != want {
				t.Errorf("%s(%d)\n got %s", name, n, got)
			}
		}
	}
}

func TestDurationsAreExactInEveryFormat(t *testing.T) {
	for _, d := range []time.Duration{0, 1, -1, 999, 1000, 1_000_001, time.Second, -90 * time.Minute, math.MaxInt64, math.MinInt64} {
		nanos := strconv.FormatInt(int64(d), 10)
		for f, scale := range map[nib.DurationFormat]int{nib.DurationMillis: 6, nib.DurationSeconds: 9, nib.DurationNanos: 0} {
			got := value(t, func(e *nib.Event) { e.Dur("k", d) }, nib.WithLayout(nib.Layout{Duration: f}))
			if whole := shifted(got.text, scale); got.kind != '0' || whole != nanos {
				t.Errorf("%s ns in format %d\n got %s, which is %s ns", nanos, f, got, whole)
			}
		}
		got := value(t, func(e *nib.Event) { e.Dur("k", d) }, nib.WithLayout(nib.Layout{Duration: nib.DurationString}))
		if got.text != d.String() {
			t.Errorf("%s ns as text\n got %s\nwant %s", nanos, got, d)
		}
	}
}

// shifted moves the point of a decimal number to the right.
func shifted(number string, places int) string {
	whole, fraction, _ := strings.Cut(number, ".")
	if len(fraction) > places {
		return "too many digits in " + number
	}
	sign := ""
	if whole[0] == '-' {
		sign, whole = "-", whole[1:]
	}
	digits := strings.TrimLeft(whole+fraction+strings.Repeat("0", places-len(fraction)), "0")
	if digits == "" {
		return "0"
	}
	return sign + digits
}

func TestTimeDiffIsExactAndSaturates(t *testing.T) {
	start := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{time.Second: "1000", -time.Second: "-1000", 0: "0"} {
		if got := value(t, func(e *nib.Event) { e.TimeDiff("k", start.Add(d), start) }); got.text != want {
			t.Errorf("TimeDiff of %v\n got %s\nwant %s", d, got, want)
		}
	}
	far := time.Date(2900, 1, 1, 0, 0, 0, 0, time.UTC)
	if got := value(t, func(e *nib.Event) { e.TimeDiff("k", far, start) }); got.text != "9223372036854.775807" {
		t.Errorf("a difference of 880 years does not saturate\n got %s", got)
	}
}

func TestRawJSONIsCheckedAndCompacted(t *testing.T) {
	for _, x := range []struct{ raw, want string }{
		{`{"a" : [ 1, 2.50, -0, 1E+9 ] , "b":"x\/\u00e9"}`, `{"a":[1,2.50,-0,1E+9],"b":"x/é"}`},
		{" null\n", `null`}, {"true", `true`}, {`""`, `""`}, {"[]", `[]`}, {"{}", `{}`},
		{"\"a\u0085b\u202e\u007f\"", `"a\u0085b\u202e\x7f"`}, {"\"\xff\"", `"�"`}, {`"\ud83c\udf89"`, `"🎉"`},
		{"{\"\u2028\":1}", `{"\u2028":1}`}, {`{"time":1,"time":2}`, `{"time":1,"time":2}`},
		{"", `""`}, {"{", `"{"`}, {`{"a":1}{"b":2}`, `"{\"a\":1}{\"b\":2}"`}, {"01", `"01"`}, {"nul", `"nul"`},
		{"NaN", `"NaN"`}, {"[1,]", `"[1,]"`}, {"\"a\nb\"", `"\"a\nb\""`}, {"\ufeff{}", `"\ufeff{}"`}, {"\xff", `"�"`},
		{"1\x00", `"1\x00"`}, {`"\x"`, `"\"\\x\""`}, {"}", `"}"`}, {",", `","`}, {`1,"admin":true`, `"1,\"admin\":true"`},
	} {
		if got := value(t, func(e *nib.Event) { e.RawJSON("k", []byte(x.raw)) }); got.String() != x.want {
			t.Errorf("RawJSON(%q)\n got %s\nwant %s", x.raw, got, x.want)
		}
		if got := value(t, func(e *nib.Event) { e.Any("k", json.RawMessage(x.raw)) }); got.String() != x.want {
			t.Errorf("Any(json.RawMessage(%q))\n got %s\nwant %s", x.raw, got, x.want)
		}
	}
}

// Marshalers that misbehave in different ways.
type (
	jsonText  string
	jsonError struct{}
	textBytes string
	halfNib   struct{}
	emptyNib  struct{}
	twiceNib  struct{}
)

func (s jsonText) MarshalJSON() ([]byte, error)  { return []byte(s), nil }
func (jsonError) MarshalJSON() ([]byte, error)   { return []byte(`{"half":`), errors.New("no\nmore") }
func (s textBytes) MarshalText() ([]byte, error) { return []byte(s), nil }
func (halfNib) MarshalNib(e *nib.Event)          { e.Str("a", "b"); panic(errors.New("half")) }
func (emptyNib) MarshalNib(*nib.Event)           {}
func (twiceNib) MarshalNib(e *nib.Event)         { e.Str("a", "b").Str("a", "b") }

func TestBadOutputOfMarshalersBecomesText(t *testing.T) {
	for _, x := range []struct {
		name string
		v    any
		want string // a prefix
	}{
		{"pretty JSON", jsonText("{\n\t\"a\": 1\n}"), `{"a":1}`},
		{"bidi in JSON", jsonText("\"\u202e\u0085\""), `"\u202e\u0085"`},
		{"HTML in JSON", jsonText(`"<&>"`), `"<&>"`},
		{"nothing", jsonText(""), `"!ERROR: `}, {"twice", jsonText("1 2"), `"!ERROR: `},
		{"half", jsonText(`{"a":`), `"!ERROR: `}, {"not JSON", jsonText("<xml/>"), `"!ERROR: `},
		{"forged", jsonText(`1,"admin":true`), `"!ERROR: `}, {"error", jsonError{}, `"!ERROR: `},
		{"too deep", jsonText(strings.Repeat("[", 1000) + strings.Repeat("]", 1000)), `"!ERROR: `},
		{"text", textBytes("a\x00\u202e\xff"), `"a\x00\u202e�"`},
		{"half nib", halfNib{}, `"!PANIC: half"`}, {"empty nib", emptyNib{}, `{}`}, {"twice nib", twiceNib{}, `{"a":"b","a":"b"}`},
		{"channel", make(chan int), `"!ERROR: `}, {"func", func() {}, `"!ERROR: `}, {"complex", 1i, `"!ERROR: `},
		{"inside a struct", struct{ A any }{jsonText("")}, `"!ERROR: `},
		{"year 10000 in a struct", struct{ T time.Time }{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, `{"T":"10000-01-01`},
	} {
		if got := value(t, func(e *nib.Event) { e.Any("k", x.v) }); !strings.HasPrefix(got.String(), x.want) {
			t.Errorf("%s\n got %s\nwant %s…", x.name, got, x.want)
		}
	}
	got := value(t, func(e *nib.Event) { e.Array("k", func(a *nib.Array) { a.Any(jsonText("")).Object(halfNib{}).Int(3) }) })
	if len(got.kids) != 3 || got.kids[2].text != "3" {
		t.Errorf("an element went missing\n got %s", got)
	}
}

func TestAddressesAreWrittenAsTheirStringMethodsDo(t *testing.T) {
	for _, ip := range []net.IP{anIP, anIP.To4(), net.IPv6loopback, net.IPv6unspecified, net.ParseIP("::ffff:1.2.3.4"), {1, 2, 3}, make(net.IP, 17)} {
		if got := value(t, func(e *nib.Event) { e.IPAddr("k", ip) }); got.text != ip.String() {
			t.Errorf("IPAddr(%v)\n got %s\nwant %q", []byte(ip), got, ip.String())
		}
		for _, mask := range []net.IPMask{nil, net.CIDRMask(7, 32), net.CIDRMask(99, 128), {255, 0, 255, 0}} {
			n := net.IPNet{IP: ip, Mask: mask}
			if got := value(t, func(e *nib.Event) { e.IPPrefix("k", n) }); got.text != n.String() {
				t.Errorf("IPPrefix(%v)\n got %s\nwant %q", n, got, n.String())
			}
		}
	}
	for _, a := range []netip.Addr{{}, anAddr, netip.MustParseAddr("::ffff:1.2.3.4"), netip.MustParseAddr("::ffff:1.2.3.4%z"), netip.MustParseAddr("fe80::1%eth0")} {
		p, r := netip.AddrPortFrom(a, 65535), netip.PrefixFrom(a, 9)
		for name, x := range map[string]struct {
			add  func(*nib.Event)
			want string
		}{
			"Addr":     {func(e *nib.Event) { e.Addr("k", a) }, a.String()},
			"AddrPort": {func(e *nib.Event) { e.AddrPort("k", p) }, p.String()},
			"Prefix":   {func(e *nib.Event) { e.Prefix("k", r) }, r.String()},
		} {
			if got := value(t, x.add); got.text != x.want {
				t.Errorf("%s(%v)\n got %s\nwant %q", name, a, got, x.want)
			}
		}
	}
}

func TestErrorsInSlicesAreTexts(t *testing.T) {
	errs := []error{fmt.Errorf("wrapped: %w", errAny), nil, errors.Join(errAny, errAny)}
	want := `["wrapped: broken",null,"broken\nbroken"]`
	for name, add := range map[string]func(*nib.Event){
		"Errs":   func(e *nib.Event) { e.Errs("k", errs) },
		"Any":    func(e *nib.Event) { e.Any("k", errs) },
		"Fields": func(e *nib.Event) { e.Fields(map[string]any{"k": errs}) },
		"Array":  func(e *nib.Event) { e.Array("k", func(a *nib.Array) { a.Err(errs[0]).Err(errs[1]).Any(errs[2]) }) },
	} {
		if got := value(t, add).String(); got != want {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
	}
}
