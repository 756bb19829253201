// SPDX-License-Identifier: Apache-2.0

package appendinto

import (
	"fmt"
	"strconv"
	"time"
)

type stringer int

func (s stringer) String() string { return "stringer" }

func Line(b []byte, at time.Time, n int, u uint16, f float64, ok bool, s string) []byte {
	b = append(b, at.Format(time.RFC3339)...)         // want "use AppendFormat"
	b = append(b, strconv.Itoa(n)...)                 // want "use AppendInt"
	b = append(b, strconv.FormatInt(int64(n), 16)...) // want "use AppendInt"

	b = append(b, strconv.FormatFloat(f, 'g', -1, 64)...)  // want "use AppendFloat"
	b = append(b, strconv.Quote(s)...)                     // want "use AppendQuote"
	b = append(b, fmt.Sprintf(" n=%d u=%x", n, u)...)      // want "append the parts"
	b = append(b, fmt.Sprintf("%s 100%% %t ", s, ok)...)   // want "append the parts"
	b = append(b, fmt.Sprintf("%5d|%v", n, f)...)          // want "use fmt.Appendf"
	b = append(b, fmt.Sprint(n)...)                        // want "append the parts"
	b = append(b, fmt.Sprintln(n, s)...)                   // want "use fmt.Appendln"
	b = append(b, fmt.Sprintf("%v", stringer(n))...)       // String could look at b
	b = append(b, []byte(s)...)                            // want "append the string itself"
	b = append(b[:len(b):len(b)], strconv.Itoa(len(s))...) // want "use AppendInt"
	b = append(b, s...)
	return b
}

type buffer struct{ b []byte }

func (x *buffer) next() int { x.b = append(x.b, '!'); return len(x.b) }

// What is appended to could be read before or after the call.
func (x *buffer) Changed() {
	x.b = append(x.b, strconv.Itoa(x.next())...)
	x.b = append(x.b, fmt.Sprintf("%d", x.next())...)
}

// Only what is changed may change: literals, comments and all that is beside it.
func Kept(b []byte, n int) []byte {
	b = append(b, fmt.Sprintf(`\d"%d`, n)...)           // want "append the parts"
	b = append(b, fmt.Sprintf("\033[1m%d\u00fc", n)...) // want "append the parts"
	b = append(b, fmt.Sprintf("\x25d", n)...)           // want "use fmt.Appendf"
	b = append(b, fmt.Sprintf("%d",                     // the comment would go
		n)...)
	b = append(b, strconv.Itoa(n /* this one too */)...)
	return append(b, fmt.Sprintf("[%d]", n)...) // want "append the parts"
}

func Short(b []byte, n int) []byte { b = append(b, fmt.Sprintf("<%d>", n)...); return b } // want "use fmt.Appendf"

type page struct{ b, other []byte }

// The arguments could be what is written over.
func (p *page) Over(s string, n int) {
	p.b = append(p.b[:0], fmt.Sprintf("%s%x", s, p.b)...)
	p.b = append(p.b[:1], fmt.Sprintf("%s%s", s, string(p.b))...) // want "use fmt.Appendf"
	p.b = append(p.b, fmt.Sprintf("%d %d", n, len(p.b))...)       // want "use fmt.Appendf"
	p.b = append(p.b, fmt.Sprintf("%s %d", s, n)...)              // want "append the parts"
}

func Try() string {
	b := Line(nil, time.Unix(1e9, 0).UTC(), -300, 65535, 1e21, true, "a\"ü")
	x := &buffer{}
	x.Changed()
	p := &page{b: []byte("abc")}
	p.Over("x", 7)
	return string(append(b, x.b...)) + string(Kept(nil, 9)) + string(p.b)
}
