// SPDX-License-Identifier: Apache-2.0

package deadletter

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nib-log/nib"
)

// check writes an entry between others, and reads the same one.
func check(t *testing.T, e Entry) {
	t.Helper()
	text := Append(nil, &e)
	if bytes.Count(text, []byte{'\n'}) != 1 || !bytes.HasSuffix(text, []byte("}\n")) ||
		!json.Valid(text) || !utf8.Valid(text) {
		t.Fatalf("%q is not one line of JSON", text)
	}
	got, ok := Parse(text)
	r, want := got.Record, e.Record
	if !ok || r.Seq != want.Seq || r.Spool != want.Spool || r.Time != want.Time ||
		r.Level != want.Level ||
		r.Logger != strings.ToValidUTF8(want.Logger, "\ufffd") && utf8.ValidString(want.Logger) ||
		!bytes.Equal(r.Line, want.Line) {
		t.Fatalf("read %v %+v from %q, want %+v", ok, r, text, want)
	}
	if at := offsetOf(want.Line, want.Message); at >= 0 {
		if !bytes.Equal(r.Message, want.Message) || &r.Message[0] != &r.Line[at] {
			t.Fatalf("read the message %q from %q, want %q", r.Message, text, want.Message)
		}
	} else if r.Message != nil {
		t.Fatalf("read the message %q from %q, want none", r.Message, text)
	}
	if utf8.ValidString(e.Reason) && len(e.Reason) <= MaxReason && got.Reason != e.Reason {
		t.Fatalf("read the reason %q from %q, want %q", got.Reason, text, e.Reason)
	}
	again := Append(nil, &got)
	if utf8.ValidString(e.Reason) && len(e.Reason) <= MaxReason && !bytes.Equal(again, text) {
		t.Fatalf("%q is written again as %q", text, again)
	}
}

// planted are lines that could pass for something else in an entry.
var planted = []string{
	"", "\n", "{}", "{}\n", "{", "}\n", "{}{}\n", "[]\n", "\"a\"\n", "\"a\n", "1\n", "null\n", " {}\n", "{} \n", "{\n}\n", "{\r}\n", "{}\r\n", "a\n\n",
	`{"a":1},"seq":99,"spool":"00000000000000ff","line":{"b":2}` + "\n",
	`{"a":1},"line":{"b":2}` + "\n",
	`{"a":1}}` + "\n" + `{"seq":7,"time":0,"level":"info","reason":"","line":{}}` + "\n",
	`{"a": 1, "b":  "\u0000\ud800"}` + "\n", `{a:1}` + "\n", `{"a":01}` + "\n", `{"a":1,}` + "\n",
	"{\"a\":\"\x01\"}\n", "{\"a\":\"\xff\"}\n", "\xff\n", "\x00\n", "\u2028\n",
	strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2000) + "\n",
	strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000) + "\n",
	`{"a":"` + strings.Repeat("x", 1<<20) + `"}` + "\n",
}

func TestEveryLineIsReadAsItWasWritten(t *testing.T) {
	for _, line := range planted {
		e := Entry{Record: nib.Record{Seq: 3, Spool: 0xabc, Time: -5, Level: nib.LevelError,
			Logger: `a"b`, Line: []byte(line)}, Reason: "why\n\x1b"}
		check(t, e)
		if len(line) > 3 {
			e.Record.Message = e.Record.Line[1:3]
			check(t, e)
		}
	}
	for level := -128; level < 128; level++ {
		check(t, Entry{Record: nib.Record{Level: nib.Level(level), Line: []byte("{}\n")}})
	}
}

// Text that Append has not written is not an entry, although it has the
// members of one.
func TestOtherTextIsNoEntry(t *testing.T) {
	const head = `{"seq":1,"spool":"0000000000000abc","time":2,"level":"info","reason":"r"`
	for _, text := range []string{
		"", "\n", "{}", "null", head, head + "}", head + `,"line":{}`, head + `,"line":1}`, head + `,"line":null}`, head + `,"line":[]}`,
		head + `,"line":{},"seq":99}`, head + `,"line":{},"line":{}}`,
		head + `,"line":{},"base64":""}`, head + `,"line":{}}{}`, head + `,"line":{a}}`,
		head + `,"line":{},"x":1}`, head + `,"x":1,"line":{}}`, head + `,"reason":"s","line":{}}`,
		head + `,"base64":"!"}`, head + `,"base64":{}}`,
		head + `,"message":[1],"line":{}}`, head + `,"message":[0,4],"line":{}}`,
		head + `,"message":[-1,1],"line":{}}`, head + `,"message":"","line":{}}`,
		`{"spool":"1","seq":1,"time":2,"level":"info","reason":"r","line":{}}`,
		`{"seq":-1,"time":2,"level":"info","reason":"r","line":{}}`,
		`{"seq":1,"time":2.5,"level":"info","reason":"r","line":{}}`,
		`{"seq":1,"time":2,"level":"loud","reason":"r","line":{}}`,
		`{"seq":1,"time":2,"level":3,"reason":"r","line":{}}`,
		`{"seq":1,"spool":"x","time":2,"level":"info","reason":"r","line":{}}`,
		`{"seq":1,"time":2,"level":"info","reason":1,"line":{}}`,
		`{"seq":1,"time":2,"level":"info","logger":1,"reason":"","line":{}}`,
	} {
		if e, ok := Parse([]byte(text)); ok {
			t.Errorf("%s: read %+v", text, e)
		}
	}
	if e, ok := Parse([]byte(`{"seq":1,"time":2,"level":"info","reason":"r","line":"a"}` +
		"\n")); !ok || string(e.Record.Line) != "a\n" {
		t.Errorf("an entry without a spool: read %+v, %v", e, ok)
	}
}

func FuzzEntry(f *testing.F) {
	for i, line := range planted {
		if len(line) < 1<<10 {
			f.Add([]byte(line), "db", "why", uint64(i), int64(-i), int8(i), uint16(1), uint16(2))
		}
	}
	f.Fuzz(func(t *testing.T, line []byte, logger, reason string, seq uint64, at int64, level int8,
		from, n uint16) {
		r := nib.Record{Seq: seq, Spool: ^seq, Time: at, Level: nib.Level(level), Logger: logger,
			Line: slices.Clone(line)}
		if int(from)+int(n) <= len(line) {
			r.Message = r.Line[from : from+n]
		}
		check(t, Entry{Record: r, Reason: reason})
		check(t, Entry{Record: nib.Record{Line: append(slices.Clip(r.Line), '\n')}})
	})
}

// No text makes Parse accept an entry that is not written in this way.
func FuzzParse(f *testing.F) {
	for _, line := range planted {
		if len(line) < 1<<10 {
			f.Add(Append(nil, &Entry{Record: nib.Record{Line: []byte(line)}}))
			f.Add([]byte(`{"seq":1,"time":2,"level":"info","reason":"r","line":` + line + "}"))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		e, ok := Parse(text)
		if !ok {
			return
		}
		again, ok := Parse(Append(nil, &e))
		if !ok || !bytes.Equal(e.Record.Line, again.Record.Line) ||
			e.Record.Seq != again.Record.Seq || e.Record.Spool != again.Record.Spool {
			t.Fatalf("%q: read %+v, and %+v, %v when it was written again", text, e, again, ok)
		}
		var last struct {
			Seq   uint64
			Spool string
		}
		if err := json.Unmarshal(text, &last); err != nil || last.Seq != e.Record.Seq {
			t.Fatalf("%q: read number %d, encoding/json %d and %v", text, e.Record.Seq, last.Seq,
				err)
		}
	})
}
