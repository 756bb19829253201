// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/nib-log/nib/alloctest"
)

// usualLine has 300 bytes and nothing that has to be changed.
const usualLine = `{"level":"info","time":"2024-02-29T01:02:03.456Z","logger":"http","method":"GET","path":"/v1/items/12345",` +
	`"status":200,"size":5120,"duration":1.234,"remote":"10.0.0.1","agent":"Mozilla/5.0 (X11; Linux x86_64)",` +
	`"tags":["a","b"],"user":{"id":42,"name":"bob"},"message":"request finished: 3 items in the basket"}` + "\n"

// busyLine has something to edit for each function.
var busyLine = []byte(`{"level":"info","time":"2024-02-29T01:02:03.456Z","password":{"a":[1,2]},"p\u0061ssword":"x","url":"http://bob:x@h/?token=y",` +
	`"m":"{\"p\\u0061ssword\":\"x\",\"token\":123}","escaped":"\u0070assword=x","header":"Authorization: Digest a=\"b c\"\r\n",` +
	`"a":1,"a":2,"\u0061":3,"a#2":4,"truncated":1,"text":"` + strings.Repeat("中文 🙂 ", 30) + `","message":"credit card: 4111"}` + "\n")

// manyFields has 10,000 fields, each key twice.
var manyFields = func() []byte {
	var line []byte
	for i := range 10_000 {
		line = fmt.Appendf(line, `,"key%d":%d`, i%5000, i)
	}
	line[0] = '{'
	return append(line, "}\n"...)
}()

func TestEditingAllocatesNothing(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("allocations are not counted in this build")
	}
	var dst []byte
	var s Scratch
	for name, line := range map[string][]byte{"usual": []byte(usualLine), "busy": busyLine, "10,000 fields": manyFields} {
		runs := 1 + 20_000/len(line)
		for _, tt := range []struct {
			name string
			f    func()
		}{
			{"Redact", func() { dst = Redact(dst[:0], line, testKeys) }},
			{"Redact without keys", func() { dst = Redact(dst[:0], line, nil) }},
			{"LastWins", func() { dst = Duplicates(dst[:0], line, LastWins, &s) }},
			{"FirstWins", func() { dst = Duplicates(dst[:0], line, FirstWins, &s) }},
			{"Rename", func() { dst = Duplicates(dst[:0], line, Rename, &s) }},
			{"Shorten a little", func() { dst = Shorten(dst[:0], line, len(line)-1, classOf, &s) }},
			{"Shorten", func() { dst = Shorten(dst[:0], line, 200, classOf, &s) }},
		} {
			if got, _ := alloctest.Count(tt.f, runs); got != 0 {
				t.Errorf("%s, %s line: %v mallocs, want 0", tt.name, name, got)
			}
		}
	}
}

func TestScratchSize(t *testing.T) {
	for v, words := range map[any]uintptr{field{}: fieldWords, part{}: partWords} {
		if got := reflect.TypeOf(v).Size(); got > words*8 {
			t.Errorf("a %T has %d bytes, want at most %d", v, got, words*8)
		}
	}
	var s Scratch
	if got := s.Size(); got != 0 {
		t.Errorf("got %d bytes, want 0", got)
	}
	Duplicates(nil, busyLine, Rename, &s)
	Shorten(nil, busyLine, 300, classOf, &s)
	if got := s.Size(); got < 1000 || got > 8<<10 {
		t.Errorf("a usual line: got %d bytes, want some thousand", got)
	}
	Duplicates(nil, manyFields, Rename, &s)
	if got, want := s.Size(), 10_000*fieldWords*8; got < want || got > 3*want {
		t.Errorf("10,000 fields: got %d bytes, want %d to %d", got, want, 3*want)
	}
}
