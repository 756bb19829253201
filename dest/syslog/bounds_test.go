// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// TestCharactersOfFields has the first and last characters that the header and
// structured data may contain.
func TestCharactersOfFields(t *testing.T) {
	for _, c := range []struct {
		char           string
		field, control bool
	}{
		{"\x00", false, true}, {"\x1f", false, true}, {" ", false, false}, {"!", true, false}, {"~", true, false},
		{"\x7f", false, true}, {"\u0080", false, true}, {"\u009f", false, true}, {"\u00a0", false, false}, {"ä", false, false},
	} {
		if got := isField(c.char, 1); got != c.field {
			t.Errorf("field %q: got %v, want %v", c.char, got, c.field)
		}
		want := "_"
		if c.field {
			want = c.char
		}
		if got := string(appendField(nil, c.char, 1)); got != want {
			t.Errorf("name %q of the system: got %q, want %q", c.char, got, want)
		}
		err := (Config{StructuredData: element{"a", []param5424{{"k", c.char}}}.String()}).Validate()
		if (err != nil) != c.control {
			t.Errorf("value %q: got error %v", c.char, err)
		}
	}
}

// TestLengthsOfFields has the longest value of each field, and one character
// more.
func TestLengthsOfFields(t *testing.T) {
	for name, c := range map[string]struct {
		limit int
		with  func(string) Config
	}{
		"Hostname":   {255, func(s string) Config { return Config{Hostname: s} }},
		"AppName":    {48, func(s string) Config { return Config{AppName: s} }},
		"MsgID":      {32, func(s string) Config { return Config{MsgID: s} }},
		"SequenceID": {32, func(s string) Config { return Config{SequenceID: s} }},
		"ID":         {32, func(s string) Config { return Config{StructuredData: "[" + s + "]"} }},
	} {
		if err := c.with(strings.Repeat("x", c.limit)).Validate(); err != nil {
			t.Errorf("%s: got %v, want %d characters allowed", name, err, c.limit)
		}
		if err := c.with(strings.Repeat("x", c.limit+1)).Validate(); err == nil {
			t.Errorf("%s: got no error for %d characters", name, c.limit+1)
		}
	}
}

// TestLongestHeaderLeavesRoomForALine finds the longest structured data that
// Validate allows: a line of 128 bytes fits after the longest header.
func TestLongestHeaderLeavesRoomForALine(t *testing.T) {
	with := func(n int) Config {
		return Config{MaxSize: 480, Hostname: "h", AppName: "a", SequenceID: "s",
			StructuredData: `[a k="` + strings.Repeat("x", n) + `"]`}
	}
	n := 0
	for with(n+1).Validate() == nil {
		n++
	}
	r := record(strings.Repeat("y", 128), 0)
	r.Logger, r.Spool, r.Seq = strings.Repeat("l", 40), 1<<64-1, 1<<64-1
	c := with(n).withDefaults()
	head, line, cut, ok := newEncoder(&c).message(&r)
	if len(head)+len(line) != 480 || cut || !ok {
		t.Errorf("got a header of %d bytes and a line of %d, cut %v, ok %v, want 480 bytes", len(head), len(line), cut, ok)
	}
}

func TestDefaultDurationsAndSizes(t *testing.T) {
	got := (Config{}).withDefaults()
	if got.Timeout != 3*time.Second || got.Stall != 30*time.Second || got.DialTimeout != 10*time.Second ||
		got.MaxSize != 8096 || got.Window != 512 {
		t.Errorf("got %+v, want what the fields of Config document", got)
	}
}

func TestDefaultNameWithoutArguments(t *testing.T) {
	defer func(args []string) { os.Args = args }(os.Args)
	os.Args = nil
	if got := (Config{}).withDefaults().AppName; got != "" {
		t.Errorf("got %q, want none", got)
	}
}

func TestPathOfASocketMayHave107Bytes(t *testing.T) {
	root := filepath.VolumeName(t.TempDir()) + string(filepath.Separator)
	for n, want := range map[int]bool{107: true, 108: false} {
		if _, err := New("unix", root+strings.Repeat("x", n-len(root)),
			Config{}); (err == nil) != want {
			t.Errorf("%d bytes: got %v", n, err)
		}
	}
}

func TestVersionIsThatOfTheModule(t *testing.T) {
	const own = "github.com/nib-log/nib"
	other := &debug.Module{Path: "example.com/other", Version: "v9.9.9"}
	for want, info := range map[string]*debug.BuildInfo{
		"v1.2.3": {Main: *other, Deps: []*debug.Module{other, {Path: own, Version: "v1.2.3"}}},
		"v1.2.4": {Main: debug.Module{Path: own, Version: "v1.2.4"}, Deps: []*debug.Module{other}},
		"devel":  {Main: debug.Module{Path: own}, Deps: []*debug.Module{other}},
	} {
		if got := version(info, true); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := version(nil, false); got != "devel" {
		t.Errorf("without information: got %q, want devel", got)
	}
}

// TestFaultyFramesEndTheSession checks that the reader does not wait for more
// of an invalid frame.
func TestFaultyFramesEndTheSession(t *testing.T) {
	for _, s := range []string{
		"\n", "x", " ", ": ", "1\n", "12x", "1x ", "1234567890",
		"1  ", "1 \n", "1 r2", "1 rs@", "1 rs{", "1 " + strings.Repeat("r", 33),
		"1 rsp x", "1 rsp :", "1 rsp  ", "1 rsp \n", "1 rsp /", "1 rsp 65537", "1 rsp 0000000000",
		"1 rsp 1x", "1 rsp 1\n", "1 rsp 1 xy", "1 rsp 0 x", "1 rsp 0x",
	} {
		if _, size, err := parseFrame([]byte(s)); !errors.Is(err, errFrame) || size != 0 {
			t.Errorf("%q: got size %d and error %v, want errFrame", s, size, err)
		}
	}
}

func TestFramesAtTheLimits(t *testing.T) {
	for _, s := range []string{
		"0 a 0\n", "999999999 zZ 0 \n", "1 " + strings.Repeat("aZ", 16) + " 00000001 x\n", "1 rsp 9 123456789\n", "1 rsp 000000009 123456789\n",
	} {
		want, size, ok := parseByPattern(s)
		got, n, err := parseFrame([]byte(s))
		if !ok || err != nil || n != size || got.number != want.number || string(got.command) != string(want.command) || string(got.data) != string(want.data) {
			t.Errorf("%q: got %+v of %d bytes and error %v, want %+v of %d", s, got, n, err, want, size)
		}
		for i := range s {
			if _, n, err := parseFrame([]byte(s[:i])); n != 0 || err != nil {
				t.Errorf("%q: got size %d and error %v, want that there is more to come", s[:i], n, err)
			}
		}
	}
}

func TestCodesOfResponses(t *testing.T) {
	for data, want := range map[string]bool{
		"200": true, "200\nmore": true, "200 OK": true, "500 no": false, "199 x": false,
		"": false, "20": false, "2000": false, "200OK": false, "20x OK": false, " 200": false,
	} {
		ok, why := readResponse([]byte(data))
		line, _, _ := strings.Cut(data, "\n")
		if ok != want || (why == "") != want || !want && why != `"`+line+`"` {
			t.Errorf("%q: got %v and %s, want %v", data, ok, why, want)
		}
	}
}

func TestOffersOfReceivers(t *testing.T) {
	for data, good := range map[string]bool{
		"200 OK\nrelp_version=0\ncommands=syslog":                true,
		"200 OK\nrelp_version=1\ncommands=syslog,eventlog":       true,
		"200 OK\r\nrelp_version= 0\r\ncommands=a, syslog ,b\r\n": true,
		"200 OK\ncommands=syslog":                                true,
		"200 OK\nrelp_version=2\ncommands=syslog":                false,
		"200 OK\nrelp_version=x\ncommands=syslog":                false,
		"200 OK\nrelp_version=0":                                 false,
		"200 OK\nrelp_version=0\ncommands=syslogd":               false,
		"500 OK\nrelp_version=0\ncommands=syslog":                false,
	} {
		if err := checkOffers([]byte(data)); (err == nil) != good {
			t.Errorf("%q: got error %v", data, err)
		}
	}
}
