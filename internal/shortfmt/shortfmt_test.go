// SPDX-License-Identifier: Apache-2.0

package shortfmt

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

type named string

type status int

func (s status) String() string { return "status" }

var arguments = []any{
	"text", "", "50%", "é\xff", 0, -1, math.MinInt, int64(math.MaxInt64), int32(-7), uint(7), uint64(math.MaxUint64), uint32(3),
	nil, true, 1.5, named("n"), status(3), errors.New("failed"), []byte("bytes"), &status2, int8(1), uintptr(9),
}

var status2 = status(2)

var formats = []string{
	"", "plain", "%", "%%", "100%% of %d", "%s", "%d", "%v", "%s answered %d", "%d%s%v", "%q", "%x", "%5d", "%-5s", "%+v", "%#v", "%.3s",
	"%[1]s", "%*d", "%t", "% d", "%s %", "%!", "%\xff", "é%sé", "%sd", "%w",
}

func check(t *testing.T, format string, args ...any) (taken bool) {
	t.Helper()
	dst := []byte("before ")
	got, ok := Append(dst, format, args)
	if !ok {
		if string(got) != "before " {
			t.Errorf("%q, %#v: got %q without success, want what was there before", format, args, got)
		}
		return false
	}
	if want := fmt.Appendf(dst, format, args...); string(got) != string(want) {
		t.Errorf("%q, %#v: got %q, want %q", format, args, got, want)
	}
	return true
}

func TestAppendIsThatOfFmt(t *testing.T) {
	taken := 0
	for _, f := range formats {
		tries := [][]any{{}}
		for _, a := range arguments {
			tries = append(tries, []any{a})
			for _, b := range arguments {
				tries = append(tries, []any{a, b}, []any{a, b, a})
			}
		}
		for _, args := range tries {
			if check(t, f, args...) {
				taken++
			}
		}
	}
	if taken < 100 {
		t.Errorf("%d formats were taken, want 100", taken)
	}
}

func TestAppendTakesUsualMessages(t *testing.T) {
	for _, test := range []struct {
		format string
		args   []any
	}{
		{"started", nil},
		{"%s answered %d", []any{"/path", 200}},
		{"%v of %v", []any{int64(3), uint64(4)}},
		{"%d%% done", []any{uint32(7)}},
	} {
		if !check(t, test.format, test.args...) {
			t.Errorf("%q is left to package fmt", test.format)
		}
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	dst, args := make([]byte, 0, 100), []any{"/path", 200}
	if n := testing.AllocsPerRun(100, func() { dst, _ = Append(dst[:0], "%s answered %d", args) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

func FuzzAppend(f *testing.F) {
	f.Add("%s answered %d", "text", int64(-3), uint8(0))
	f.Add("%v%%%d", "", int64(0), uint8(1))
	f.Fuzz(func(t *testing.T, format, s string, n int64, kind uint8) {
		if strings.Count(format, "%") > 100 {
			return
		}
		pairs := [][]any{{s, n}, {int(n), s}, {uint64(n)}, {s, s, uint32(n)}, {named(s), status(n)}}
		check(t, format, pairs[int(kind)%len(pairs)]...)
	})
}
