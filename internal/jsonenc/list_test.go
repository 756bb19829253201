// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/nib-log/nib/alloctest"
)

func TestStrings(t *testing.T) {
	values := []string{"", "\"", "a\\b", "\xff\xfe", "中文", "\u2028", "tab\tin a longer text", strings.Repeat("é", 20)}
	for n := range 40 {
		values = append(values, strings.Repeat("0123456789", 4)[:n])
	}
	lists := [][]string{nil, {}, values}
	for i := range values {
		lists = append(lists, values[i:i+1], values[i:min(i+3, len(values))])
	}
	for _, list := range lists {
		var quoted []string
		for _, s := range list {
			quoted = append(quoted, quote(s))
		}
		for _, dst := range destinations() {
			want := string(dst) + "[" + strings.Join(quoted, ",") + "]"
			if got := string(AppendStrings(dst, list)); got != want {
				t.Errorf("AppendStrings(%q, %q)\ngot  %s\nwant %s", dst, list, got, want)
			}
		}
	}
}

func TestPreparedTextWithBool(t *testing.T) {
	for _, s := range preparedTexts() {
		text := MakeText(s)
		for _, dst := range destinations() {
			for v, want := range map[bool]string{true: "true", false: "false"} {
				if got, want := string(AppendTextBool(dst, &text, v)), string(dst)+s+want; got != want {
					t.Errorf("AppendTextBool(%q, %q, %v) = %s, want %s", dst, s, v, got, want)
				}
			}
		}
	}
}

func TestNoAllocationsWithPreparedTexts(t *testing.T) {
	dst := make([]byte, 0, 1024)
	text, name := MakeText(`,"key":`), MakeText(`,"key":"`)
	list := []string{"a", "longer than sixteen bytes", "\n"}
	for what, f := range map[string]func(){
		"text": func() { AppendText(dst, &text) }, "string": func() { AppendTextString(dst, &name, list[1]) },
		"int": func() { AppendTextInt(dst, &text, -12345) }, "float": func() { AppendTextFloat64(dst, &text, 12.75) },
		"bool": func() { AppendTextBool(dst, &text, true) }, "strings": func() { AppendStrings(dst, list) },
		"micros": func() { AppendMicros(dst, 1500) },
		"ints":   func() { AppendInts(dst, []int{len(dst), 1234, -5}) },
	} {
		t.Run(what, func(t *testing.T) { alloctest.Zero(t, f) })
	}
}

// appendIntsSlowly is the oracle of AppendInts.
func appendIntsSlowly[T int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64](list []T) string {
	text := ""
	for _, v := range list {
		text += fmt.Sprintf(",%d", v)
	}
	return text
}

func checkInts[T int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64](t *testing.T, list ...T) {
	t.Helper()
	want := appendIntsSlowly(list)
	for _, room := range []int{0, 1, 21, 22, 400} {
		dst := append(make([]byte, 0, room+1), 'x')
		if got := string(AppendInts(dst, list)); got != "x"+want {
			t.Errorf("%T with room for %d: got %s, want x%s", list, room, got, want)
		}
	}
}

func TestAppendInts(t *testing.T) {
	checkInts[int](t)
	for shift := range 63 { // around each power of two
		n := int64(1) << shift
		checkInts(t, n-1, n, n+1, -n, 1-n)
		checkInts(t, int32(n), int32(-n))
		checkInts(t, uint64(n), ^uint64(n))
	}
	for n := int64(1); n < 1e18; n *= 10 { // and of ten
		checkInts(t, n-1, n, n+1, 1-n, -n, -n-1)
	}
	checkInts(t, int8(math.MinInt8), int8(0), int8(math.MaxInt8))
	checkInts(t, int16(math.MinInt16), int16(math.MaxInt16))
	checkInts(t, int64(math.MinInt64), int64(math.MaxInt64))
	checkInts(t, uint8(0), uint8(255))
	checkInts(t, uint16(9999), uint16(10000), uint16(math.MaxUint16))
	checkInts(t, uint64(math.MaxUint64))
	checkInts(t, math.MinInt, 3, 14, 15, 92, 65, 35, 89, 79, 323, 846)
	long := make([]int16, 2500) // more than is written at once
	for i := range long {
		long[i] = int16(i*i - 20_000)
	}
	checkInts(t, long...)
	checkInts(t, long[:1024]...)
	checkInts(t, long[:1025]...)
}
