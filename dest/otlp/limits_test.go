// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/counttest"
	"github.com/nib-log/nib/internal/httpsend"
	"github.com/nib-log/nib/internal/must"
)

func TestLimitsOfAConfig(t *testing.T) {
	for _, c := range []struct {
		config Config
		valid  bool
	}{
		{Config{MaxRequest: -1}, false}, {Config{MaxRequest: 1}, true},
		{Config{MaxRequest: maxRequest}, true}, {Config{MaxRequest: maxRequest + 1}, false},
		{Config{Timeout: -1}, false}, {Config{Timeout: 1}, true},
	} {
		if err := c.config.Validate(); (err == nil) != c.valid {
			t.Errorf("%+v: got %v, want valid: %v", c.config, err, c.valid)
		}
	}
}

func TestRecordsOfMaxRequest(t *testing.T) {
	e := newEncoder(&Config{})
	r := &nib.Record{Time: 1, Line: []byte(`{"n":1}`), Spool: 1, Seq: 1}
	added := func(limit int) (n int) {
		e.begin()
		for n < 2 && e.add(r, limit) {
			n++
		}
		return n
	}
	added(math.MaxInt)
	both := len(e.b) + 2*binary.MaxVarintLen32
	for limit, want := range map[int]int{1: 1, both - 1: 1, both: 2} {
		if got := added(limit); got != want {
			t.Errorf("%d bytes: got %d records, want %d", limit, got, want)
		}
	}
}

func TestTimesBelowOneAreLeftOut(t *testing.T) {
	for at, want := range map[int64]bool{-1: false, 0: false, 1: true} {
		e := newEncoder(&Config{})
		e.record(&nib.Record{Time: at, Line: []byte("{}")})
		if got := e.b[0] == appendFixed64(nil, recordTime, 1)[0]; got != want {
			t.Errorf("%d: got a time %v, want %v", at, got, want)
		}
	}
}

func TestMessageOfALine(t *testing.T) {
	quotes, text := []byte(`""`)[:2:2], []byte(`"a"b`)
	for name, c := range map[string]struct {
		value, message []byte
		want           bool
	}{
		"empty":               {quotes, quotes[1:1], true},
		"without memory":      {quotes, quotes[2:2], false},
		"nil":                 {quotes, nil, false},
		"the same":            {text[:3], text[1:2], true},
		"an equal one":        {text[:3], []byte("a"), false},
		"no string":           {text[3:], text[3:], false},
		"longer by one":       {text[:3], text[1:3], false},
		"nothing and nothing": {nil, nil, false},
	} {
		if got := isMessage(c.value, c.message); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestShortestTexts(t *testing.T) {
	for level, want := range map[string]string{`"x"`: "x", `""`: "info", "3": "info"} {
		e := newEncoder(&Config{})
		e.severityText(&nib.Record{Level: nib.LevelInfo}, []byte(level))
		if got := appendBytes(nil, recordSeverityText, want); !bytes.Equal(e.b, got) {
			t.Errorf("level %s: got %q, want %q", level, e.b, got)
		}
	}
	for value, want := range map[string]bool{`"x"`: true, `""`: false} {
		e := newEncoder(&Config{})
		if got := e.context([]byte("event.name"), []byte(value)); got != want {
			t.Errorf("event.name %s: got %v, want %v", value, got, want)
		}
	}
	for escaped, want := range map[string]string{
		`\n`: "\n", "\x7f": "\x7f", "": "", "ä": "ä", `not \x`: `not \x`,
	} {
		if got := new(encoder).text([]byte(escaped)); string(got) != want {
			t.Errorf("%q: got %q, want %q", escaped, got, want)
		}
	}
	if got := new(encoder).text([]byte{0x80}); !utf8.Valid(got) {
		t.Errorf("got %q, want UTF-8", got)
	}
}

func TestHexadecimalDigits(t *testing.T) {
	const digits = "0123456789abcdef"
	for c := range 256 {
		var got [1]byte
		ok := unhex(got[:], []byte{'1', byte(c)})
		at := strings.IndexByte(digits, byte(c))
		if 'A' <= c && c <= 'F' {
			at = c - 'A' + 10
		}
		if ok != (at >= 0) || ok && int(got[0]) != 16+at {
			t.Errorf("%q: got %x, %v, want the digit %d", c, got, ok, at)
		}
	}
	e := newEncoder(&Config{})
	e.appendUID(&nib.Record{Spool: 0x0123456789abcdef, Seq: math.MaxUint64})
	if want := "0123456789abcdef-18446744073709551615"; !bytes.HasSuffix(e.b, []byte(want)) {
		t.Errorf("got %q, want %q at the end", e.b, want)
	}
}

func TestIntegersAtTheLimits(t *testing.T) {
	for text, want := range map[string]byte{
		"9223372036854775807": anyInt, "-9223372036854775808": anyInt, "0": anyInt, "-9": anyInt,
		"9223372036854775808": anyString, "-9223372036854775809": anyString,
		"10000000000000000000": anyString, "18446744073709551617": anyString, "-0": anyDouble,
	} {
		got := reader{b: appendNumber(nil, []byte(text))}
		number, value, digits, ok := got.next()
		if !ok || number != uint64(want) {
			t.Errorf("%s: got field %d, want %d", text, number, want)
		}
		if n, _ := strconv.ParseInt(text, 10, 64); want == anyInt && int64(value) != n ||
			want == anyString && string(digits) != text {
			t.Errorf("%s: got %d and %q", text, int64(value), digits)
		}
	}
}

func TestDeepestValue(t *testing.T) {
	for depth, asText := range map[int]bool{maxDepth: false, maxDepth + 1: true} {
		e := newEncoder(&Config{})
		e.appendValue([]byte(strings.Repeat("[", depth)+strings.Repeat("]", depth)), 0)
		if got := bytes.Contains(e.b, []byte("[]")); got != asText {
			t.Errorf("depth %d: got the innermost array as text: %v, want %v", depth, got, asText)
		}
	}
}

func TestPartialSuccess(t *testing.T) {
	for _, c := range []struct {
		n        int
		rejected byte
		message  string
		all      bool
		partial  uint64
		reported int
	}{
		{0, 0, "", false, 0, 0}, {1, 0, "", false, 0, 0}, {1, 1, "", true, 0, 0}, {1, 2, "", true, 0, 0},
		{3, 1, "", false, 1, 1}, {3, 2, "", false, 2, 1}, {3, 3, "", true, 0, 0}, {3, 4, "", true, 0, 0},
		{3, 0, "slow", false, 0, 1},
		{3, 1, strings.Repeat("m", '{'-4), false, 1, 1}, // the body begins with "\n{"
	} {
		reported := 0
		d := &Destination{c: Config{OnError: func(error) { reported++ }}}
		in := append([]byte{partialRejected << 3, c.rejected, partialMessage<<3 | 2, byte(len(c.message))},
			c.message...)
		reason, err := d.accepted(httpsend.Response{
			Status: http.StatusOK, Header: http.Header{"Content-Type": {contentType}},
			Body: append([]byte{responsePartial<<3 | 2, byte(len(in))}, in...),
		}, c.n)
		if err != nil || (reason != nil) != c.all || d.partial.Load() != c.partial {
			t.Errorf("%+v: got %v, %v and %d partly rejected", c, reason, err, d.partial.Load())
		}
		if reported != c.reported {
			t.Errorf("%+v: got %d reports", c, reported)
		}
	}
}

func TestCountersAreShownUnderTheirNames(t *testing.T) {
	refuse := func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("refused")
	}
	const url = "http://collector:4318/v1/logs"
	d, err := New(url, Config{Dial: refuse, Compression: "none"})
	must.Succeed(t, err)
	defer d.Close()
	for range 3 {
		_, _ = d.client.Ping(t.Context(), make([]byte, 100))
	}
	for range 2 {
		_, _ = d.Deliver(t.Context(), []nib.Record{{Line: []byte("{}\n")}})
	}
	d.records.Store(11)
	d.rejected.Store(12)
	d.partial.Store(13)
	want := Stats{
		Records: 11, Rejected: 12, PartialRejected: 13, Requests: 5, Failures: 2,
	}
	got := d.Stats()
	want.Bytes = got.Bytes
	if got != want || got.Bytes <= 300 {
		t.Errorf("got %+v, want %+v", got, want)
	}
	counttest.Shown(t, d, want, map[string]string{
		"Records":         "nib_otlp_accepted_records_total",
		"Rejected":        "nib_otlp_rejected_records_total",
		"PartialRejected": "nib_otlp_partial_rejected_records_total",
		"Requests":        "nib_otlp_requests_total",
		"Failures":        "nib_otlp_retries_total",
		"Bytes":           `nib_otlp_request_bytes_total{url="` + url + `"}`,
	})
}
