// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"errors"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
)

// responsePattern matches the head of a frame, independently of parseFrame.
var responsePattern = regexp.MustCompile(`^([0-9]{1,9}) ([A-Za-z]{1,32}) ([0-9]{1,9})([ \n])`)

// parseByPattern parses the frame at the start of s.
func parseByPattern(s string) (f frame, size int, ok bool) {
	m := responsePattern.FindStringSubmatch(s)
	if m == nil {
		return f, 0, false
	}
	f.number, _ = strconv.Atoi(m[1])
	f.command = []byte(m[2])
	n, _ := strconv.Atoi(m[3])
	at := len(m[0])
	switch {
	case n > maxResponse || n > 0 && m[4] == "\n":
		return f, 0, false
	case n == 0 && m[4] == "\n":
		return f, at, true
	case len(s) <= at+n || s[at+n] != '\n':
		return f, 0, false
	case n > 0:
		f.data = []byte(s[at : at+n])
	}
	return f, at + n + 1, true
}

func FuzzFrame(f *testing.F) {
	for _, s := range []string{
		"1 rsp 6 200 OK\n", "0 serverclose 0\n", "2 rsp 0 \n", "12 rsp 3 200", "999999999 rsp 1 \n\n", "1  rsp 0\n",
		"1 rsp 00000000 \n", "1 rsp 0000000000 \n", "x", "1 rsp 65537 x\n", "", "1 rsp", " rsp 0\n", "1 r2 0\n", "1 rsp 0\n2 rsp 0\n",
	} {
		f.Add(s, byte(3))
	}
	f.Fuzz(func(t *testing.T, s string, cut byte) {
		want, size, ok := parseByPattern(s)
		got, n, err := parseFrame([]byte(s))
		if ok && (err != nil || n != size || !reflect.DeepEqual(got, want)) {
			t.Fatalf("got %+v of %d bytes and error %v, want %+v of %d", got, n, err, want, size)
		}
		if !ok && n != 0 {
			t.Fatalf("got %+v of %d bytes, want none", got, n)
		}
		if err != nil {
			for i := range 5 { // no continuation makes it a frame
				if more, _, ok := parseByPattern(s + strings.Repeat("0", i) + "\n"); ok {
					t.Fatalf("got error %v, want %+v", err, more)
				}
			}
		}
		// The bytes may arrive in portions of any size.
		whole := readFrames(strings.NewReader(s))
		for _, r := range []io.Reader{iotest.OneByteReader(strings.NewReader(s)), &portions{strings.NewReader(s), int(cut)%7 + 1}} {
			if parts := readFrames(r); !reflect.DeepEqual(parts, whole) {
				t.Fatalf("got %q in portions, want %q", parts, whole)
			}
		}
	})
}

// portions is a reader that returns a few bytes at a time.
type portions struct {
	r io.Reader
	n int
}

func (p *portions) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.n)]) }

// readFrames reads all frames, up to an error.
func readFrames(r io.Reader) (list []string) {
	frames := newFrames(r)
	for {
		f, err := readFrame(frames)
		if err != nil {
			return append(list, strconv.FormatBool(errors.Is(err, errFrame)))
		}
		list = append(list, strconv.Itoa(f.number), string(f.command), string(f.data))
	}
}

func TestLongResponse(t *testing.T) {
	data := strings.Repeat("x", maxResponse)
	s := respond(1, data) + respond(2, "200 OK") + respond(3, data+"x")
	want := []string{"1", "rsp", data, "2", "rsp", "200 OK", "true"}
	if got := readFrames(strings.NewReader(s)); !reflect.DeepEqual(got, want) {
		t.Errorf("got %d strings, want %d", len(got), len(want))
	}
}
