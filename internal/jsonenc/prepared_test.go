// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
)

// preparedTexts have every length around the size of a Text's head.
func preparedTexts() (texts []string) {
	for n := range 2*textHead + 3 {
		texts = append(texts, strings.Repeat(`,"abcdefg":`, 8)[:n])
	}
	return texts
}

// destinations are slices without room, with a little, and with plenty.
func destinations() [][]byte {
	return [][]byte{nil, []byte("x"), append(make([]byte, 0, 50), "abc"...), make([]byte, 1, 1000)}
}

func TestPreparedText(t *testing.T) {
	for _, s := range preparedTexts() {
		text := MakeText(s)
		if got := text.String(); got != s {
			t.Errorf("MakeText(%q).String() = %q", s, got)
		}
		for _, dst := range destinations() {
			if got, want := string(AppendText(dst, &text)), string(dst)+s; got != want {
				t.Errorf("AppendText(%q, %q) = %q, want %q", dst, s, got, want)
			}
		}
	}
}

func TestPreparedTextWithString(t *testing.T) {
	hostile := []string{"\"", "a\\b", "ab\"cd", "a long\"text\nof 20.", "12345678901234\"", "tab\t is here", "\xff", "sehr lang und dann ein \x7f", "中文", "\u2028", strings.Repeat("é", 20)}
	for _, s := range preparedTexts() {
		s += `"`
		text := MakeText(s)
		values := hostile
		for n := range 40 {
			values = append(values, strings.Repeat("0123456789", 4)[:n])
		}
		for _, v := range values {
			for _, dst := range destinations() {
				if got, want := string(AppendTextString(dst, &text, v)), string(dst)+s+quote(v)[1:]; got != want {
					t.Errorf("AppendTextString(%q, %q, %q) = %q, want %q", dst, s, v, got, want)
				}
			}
		}
	}
}

func TestPreparedTextWithNumber(t *testing.T) {
	values := []int64{0, math.MaxInt64, math.MinInt64, -1}
	for v := int64(1); v < math.MaxInt64/10; v *= 10 {
		values = append(values, v, v-1, -v, 7*v)
	}
	for _, s := range preparedTexts() {
		text := MakeText(s)
		for _, v := range values {
			for _, dst := range destinations() {
				if got, want := string(AppendTextInt(dst, &text, v)), string(dst)+s+strconv.FormatInt(v, 10); got != want {
					t.Errorf("AppendTextInt(%q, %q, %d) = %q, want %q", dst, s, v, got, want)
				}
				if got, want := string(AppendTextUint(dst, &text, uint64(v))), string(dst)+s+strconv.FormatUint(uint64(v), 10); got != want {
					t.Errorf("AppendTextUint(%q, %q, %d) = %q, want %q", dst, s, uint64(v), got, want)
				}
			}
		}
	}
}

func TestMicros(t *testing.T) {
	for _, c := range []struct {
		ns   int64
		want string
	}{
		{0, "0"}, {1, "0.001"}, {-1, "-0.001"}, {1000, "1"}, {1500, "1.5"}, {-12345678, "-12345.678"},
		{math.MaxInt64, "9223372036854775.807"}, {math.MinInt64, "-9223372036854775.808"},
	} {
		if got := string(AppendMicros(nil, time.Duration(c.ns))); got != c.want {
			t.Errorf("AppendMicros(%d ns) = %s, want %s", c.ns, got, c.want)
		}
	}
}

// A long text takes the fast path if a buffer has the room that it needs: a
// large file that is mapped into memory may have gigabytes.
func TestLongTextsNeedMoreThanAnyRoom(t *testing.T) {
	text := MakeText(strings.Repeat("k", textHead+1))
	if need := uint64(text.need); need < math.MaxInt/2 || need+max(maxFloatLen, uint64(secondRoom)) > math.MaxInt {
		t.Errorf("got %d, want more than any slice has, and no overflow of what is added to it", need)
	}
}
