// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/must"
)

// encode returns the message of a record.
func encode(t testing.TB, c Config, r nib.Record) (text string, m message) {
	t.Helper()
	must.Succeed(t, c.Validate())
	c = c.withDefaults()
	head, line, _, ok := newEncoder(&c).message(&r)
	if !ok {
		t.Fatalf("the line is too long: %d bytes", len(r.Line))
	}
	text = string(head) + string(line)
	m, err := parseMessage(text)
	must.Succeed(t, err)
	return text, m
}

func TestMessage(t *testing.T) {
	c := Config{Facility: "local3", AppName: "shop", Hostname: "web-1", SequenceID: "nib@32473",
		StructuredData: `[origin software="shop"][x@1]`}
	r := record(`{"level":"warn","message":"hällo"}`, 17)
	r.Level, r.Logger, r.Spool = nib.LevelWarn, "db.pool", 0xdeadbeef
	got, _ := encode(t, c, r)
	want := fmt.Sprintf(`<156>1 2026-11-21T01:02:03.123456Z web-1 shop %d db.pool [origin software="shop"][x@1]`+
		`[nib@32473 spool="00000000deadbeef" seq="17"] {"level":"warn","message":"hällo"}`, os.Getpid())
	if got != want {
		t.Errorf("\ngot  %s\nwant %s", got, want)
	}
}

// MSGID comes from the Config, or is the name of the logger.
func TestMessageIDs(t *testing.T) {
	r := record("{}", 1)
	r.Logger = "db"
	for id, want := range map[string]string{"": "db", "ID47": "ID47"} {
		if _, m := encode(t, Config{MsgID: id}, r); m.fields[3] != want {
			t.Errorf("MsgID %q: got %q, want %q", id, m.fields[3], want)
		}
	}
}

func TestSeverities(t *testing.T) {
	for level, want := range map[nib.Level]int{
		-100: 7, nib.LevelTrace: 7, nib.LevelDebug: 7, nib.LevelInfo - 1: 7,
		nib.LevelInfo: 6, nib.LevelInfo + 1: 6, nib.LevelInfo + 2: 5, nib.LevelWarn - 1: 5,
		nib.LevelWarn: 4, nib.LevelError - 1: 4, nib.LevelError: 3, nib.LevelPanic: 2, nib.LevelFatal: 1, 100: 1,
	} {
		r := record("{}", 1)
		r.Level = level
		if _, m := encode(t, Config{}, r); m.severity != want || m.facility != 1 {
			t.Errorf("level %v: got severity %d and facility %d, want %d and 1", level, m.severity, m.facility, want)
		}
	}
}

func TestTimes(t *testing.T) {
	c := (Config{}).withDefaults()
	e := newEncoder(&c)
	for _, c := range []struct {
		ns   int64
		want string
	}{
		{0, "-"},
		{1795222923000000000, "2026-11-21T01:02:03.000000Z"},
		{1, "1970-01-01T00:00:00.000000Z"},
		{1e9, "1970-01-01T00:00:01.000000Z"},
		{1795222923000000000, "2026-11-21T01:02:03.000000Z"},
		{999_999_999, "1970-01-01T00:00:00.999999Z"},
		{-1, "1969-12-31T23:59:59.999999Z"},
		{1795222923123456789, "2026-11-21T01:02:03.123456Z"},
		{1795222923000999999, "2026-11-21T01:02:03.000999Z"},
		{1795222924999999999, "2026-11-21T01:02:04.999999Z"},
		{1<<63 - 1, "2262-04-11T23:47:16.854775Z"},
		{-1 << 63, "1677-09-21T00:12:43.145224Z"},
	} {
		if got := string(e.appendTime(nil, c.ns)); got != c.want {
			t.Errorf("%d: got %s, want %s", c.ns, got, c.want)
		}
	}
}

// Names from the system may contain anything; names in a Config are validated.
func TestNamesAreMadeToFit(t *testing.T) {
	c := (Config{}).withDefaults()
	c.Hostname, c.AppName = strings.Repeat("ä", 200), "my app\n"
	r := record("{}", 1)
	r.Logger = strings.Repeat("a b", 20)
	head, line, _, _ := newEncoder(&c).message(&r)
	m, err := parseMessage(string(head) + string(line))
	must.Succeed(t, err)
	want := [4]string{strings.Repeat("_", 255), "my_app_", fmt.Sprint(os.Getpid()), "a_ba_ba_ba_ba_ba_ba_ba_ba_ba_ba_"}
	if m.fields != want {
		t.Errorf("got %q, want %q", m.fields, want)
	}
	c.Hostname, c.AppName = "", ""
	head, _, _, _ = newEncoder(&c).message(&nib.Record{})
	if got, want := string(head), fmt.Sprintf("<14>1 - - - %d - - ", os.Getpid()); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStructuredDataIsEscaped(t *testing.T) {
	data := []element{{"a@1", []param5424{{"k", `"\]`}, {"k", "ä ] ="}, {"l", ""}}}, {"b", []param5424{{"[x", "y"}}}}
	_, m := encode(t, Config{StructuredData: data[0].String() + data[1].String()}, record("{}", 1))
	if !reflect.DeepEqual(m.data, data) {
		t.Errorf("got %q, want %q", m.data, data)
	}
}

func TestLongLinesAreCut(t *testing.T) {
	c := Config{MaxSize: 600, AppName: "a", Hostname: "h"}
	for _, size := range []int{600, 601, 5000, 1 << 20} {
		r := record(`{"time":"2026-11-21T01:02:03Z","level":"info","a":"`+strings.Repeat("ä\\n", size/4)+`","message":"`+strings.Repeat("m", 100)+`"}`, 1)
		text, m := encode(t, c, r)
		var line struct {
			Time, Level, A, Message string
			Truncated               int
		}
		if err := json.Unmarshal([]byte(m.text), &line); err != nil {
			t.Fatalf("%v in %s", err, m.text)
		}
		if len(text) > 600 || line.Truncated == 0 || line.Time == "" || line.Level != "info" || len(line.Message) != 100 {
			t.Errorf("size %d: got %d bytes, %s", size, len(text), m.text)
		}
	}
}

func TestTooLong(t *testing.T) {
	for name, c := range map[string]struct {
		config Config
		line   string
	}{
		"by option":          {Config{RejectLong: true}, `{"a":"` + strings.Repeat("x", 9000) + `"}`},
		"what must not go":   {Config{}, `{"time":"` + strings.Repeat("x", 9000) + `"}`},
		"not a JSON object":  {Config{}, strings.Repeat("x", 9000)},
		"one byte too long":  {Config{RejectLong: true, MaxSize: 500, AppName: "a", Hostname: "h"}, ""},
		"exactly that, good": {Config{RejectLong: true, MaxSize: 500, AppName: "a", Hostname: "h"}, ""},
	} {
		r := record(c.line, 1)
		if c.line == "" {
			head := fmt.Sprintf("<14>1 2026-11-21T01:02:03.123456Z h a %d - - ", os.Getpid())
			n := 500 - len(head) - len(`{"a":""}`)
			if name == "one byte too long" {
				n++
			}
			r = record(`{"a":"`+strings.Repeat("x", n)+`"}`, 1)
		}
		c.config = c.config.withDefaults()
		if _, _, _, ok := newEncoder(&c.config).message(&r); ok != (name == "exactly that, good") {
			t.Errorf("%s: got %v", name, ok)
		}
	}
}

func TestConfigFaults(t *testing.T) {
	for want, c := range map[string]Config{
		"Facility":                   {Facility: "local8"},
		"AppName \"a b\"":            {AppName: "a b"},
		"Hostname":                   {Hostname: "höst"},
		"MsgID":                      {MsgID: strings.Repeat("x", 33)},
		"SequenceID":                 {SequenceID: "a=b"},
		"which is SequenceID":        {SequenceID: "a@1", StructuredData: "[a@1]"},
		"occurs twice":               {StructuredData: "[a@1][a@1]"},
		`"ä" is not an ID`:           {StructuredData: "[ä]"},
		`"ä" in a is not`:            {StructuredData: `[a ä=""]`},
		`the value "\n" of k in a`:   {StructuredData: "[a k=\"\n\"]"},
		`the value "\xff" of k in a`: {StructuredData: "[a k=\"\xff\"]"},
		"MaxSize is less":            {MaxSize: 479},
		"no room for a line":         {MaxSize: 480, StructuredData: `[a k="` + strings.Repeat("x", 400) + `"]`},
		"Timeout":                    {Timeout: -1},
		"Stall":                      {Stall: -1},
		"DialTimeout":                {DialTimeout: -1},
		"Window":                     {Window: -1},
	} {
		d, err := New("tcp", "localhost:514", c)
		if err == nil || !strings.Contains(err.Error(), want) || d != nil {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
	for _, c := range [][2]string{{"udp", "localhost:514"}, {"tcp", "localhost"}, {"relp", "localhost:"}, {"unix", ""}, {"unixgram", strings.Repeat("x", 108)}} {
		if _, err := New(c[0], c[1], Config{}); err == nil {
			t.Errorf("%s %s: got no error", c[0], c[1])
		}
	}
}

func TestFacilities(t *testing.T) {
	for name, want := range map[string]int{
		"": -1, "kern": -1, "user": 1, "USER": 1, "clock": 15, "local0": 16, "Local7": 23, "local8": -1,
	} {
		if got := facilityOf(name); got != want {
			t.Errorf("%q: got %d, want %d", name, got, want)
		}
	}
}

func TestRejectionsNameTheirRecords(t *testing.T) {
	for _, network := range []string{"unix", "relp"} {
		var r *receiver
		if network == "unix" {
			r = newReceiver(t, "unix", readCounted).start()
		} else {
			r = newRELP(t, &relpServer{})
		}
		d := dial(t, network, r.addr, Config{RejectLong: true})
		batch := batchOf(0, 6)
		for _, i := range []int{0, 3, 5} {
			batch[i].Line = append(batch[i].Line, make([]byte, 9000)...)
		}
		res, err := d.Deliver(t.Context(), batch)
		var got []int
		for _, r := range res.Rejected {
			if got = append(got, r.Index); !errors.Is(r.Reason, delivery.ErrTooLarge) {
				t.Errorf("%s: got reason %v, want delivery.ErrTooLarge", network, r.Reason)
			}
		}
		if err != nil || res.Accepted != 6 || !reflect.DeepEqual(got, []int{0, 3, 5}) {
			t.Errorf("%s: got %+v and error %v, want 0, 3 and 5 rejected", network, res, err)
		}
		if got, want := r.lines(3), []string{lineOf(1), lineOf(2), lineOf(4)}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", network, got, want)
		}
	}
}

// FuzzMessage encodes arbitrary records and parses the messages with
// parseMessage.
func FuzzMessage(f *testing.F) {
	f.Add(int64(1795222923123456789), 0, "db", "host", "app", "a@1", "k", "v\"]\\", `{"a":1}`, uint64(1), uint64(2))
	f.Add(int64(-1), 99, "\x00", "", "ä", "", "=", "\xff", "", uint64(0), uint64(1<<63))
	f.Fuzz(func(t *testing.T, ns int64, level int, logger, host, app, id, name, value, line string, spool, seq uint64) {
		c := Config{StructuredData: element{id, []param5424{{name, value}, {name, ""}}}.String(), SequenceID: "nib@32473"}
		if c.Validate() != nil {
			c.StructuredData = ""
		}
		c = c.withDefaults()
		c.Hostname, c.AppName = host, app // as the system may return them
		r := nib.Record{Time: ns, Level: nib.Level(level), Logger: logger, Line: []byte(line + "\n"), Spool: spool, Seq: seq}
		head, text, cut, ok := newEncoder(&c).message(&r)
		if !ok {
			return
		}
		m, err := parseMessage(string(head) + string(text))
		must.Succeed(t, err)
		if len(head)+len(text) > c.MaxSize || !cut && m.text != line {
			t.Errorf("got %q, want %q", m.text, line)
		}
		if want := time.Unix(0, ns).Truncate(time.Microsecond); ns > 0 && !m.time.Equal(want) {
			t.Errorf("got time %v, want %v", m.time, want)
		}
		want, _, _ := parseData5424(c.StructuredData)
		want = append(want, element{"nib@32473", []param5424{{"spool", fmt.Sprintf("%016x", spool)}, {"seq", fmt.Sprint(seq)}}})
		if !reflect.DeepEqual(m.data, want) {
			t.Errorf("got data %q, want %q", m.data, want)
		}
	})
}
