// SPDX-License-Identifier: Apache-2.0

package request

import (
	"regexp"
	"strings"
	"testing"
)

func TestParseTraceparent(t *testing.T) {
	const (
		trace = "0af7651916cd43dd8448eb211c80319c"
		span  = "b7ad6b7169203331"
		good  = "00-" + trace + "-" + span + "-01"
	)
	for _, c := range []struct {
		name, in string
		ok       bool
	}{
		{"sampled", good, true},
		{"unknown flags", "00-" + trace + "-" + span + "-ff", true},
		{"later version", "01-" + trace + "-" + span + "-00", true},
		{"later version with more", "cc-" + trace + "-" + span + "-00-what-ever", true},
		{"later version, more without a dash", "cc-" + trace + "-" + span + "-00.what", false},
		{"version 00 with more", good + "-x", false},
		{"version ff", "ff-" + trace + "-" + span + "-01", false},
		{"upper case", strings.ToUpper(good), false},
		{"trace id of zeros", "00-" + strings.Repeat("0", 32) + "-" + span + "-01", false},
		{"span id of zeros", "00-" + trace + "-" + strings.Repeat("0", 16) + "-01", false},
		{"not hexadecimal", "00-" + trace[:31] + "g-" + span + "-01", false},
		{"flags not hexadecimal", "00-" + trace + "-" + span + "-0x", false},
		{"version not hexadecimal", "0x-" + trace + "-" + span + "-01", false},
		{"dash in the wrong place", "00-" + trace[:31] + "--" + span + "-01", false},
		{"short", good[:54], false},
		{"version 00 with one more character", good + "-", false},
		{"later version with a dash", "cc-" + trace + "-" + span + "-00-", true},
		{"later version, one more character", "cc-" + trace + "-" + span + "-00.", false},
		{"empty", "", false},
		{"space in front", " " + good, false},
	} {
		gotTrace, gotSpan, ok := parseTraceparent(c.in)
		if ok != c.ok || ok && (gotTrace != trace || gotSpan != span) {
			t.Errorf("%s: got %q, %q, %v; want ok %v", c.name, gotTrace, gotSpan, ok, c.ok)
		}
	}
}

// The specification demands that an implementation sends the highest version
// that it knows. What a later version has after the flags is not sent either: a
// client would decide its size.
func TestTraceparentIsOfVersion00(t *testing.T) {
	const ids = "-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-"
	for _, c := range []struct{ in, want string }{
		{"00" + ids + "01", "00" + ids + "01"},
		{"00" + ids + "03", "00" + ids + "03"},
		{"01" + ids + "00", "00" + ids + "00"},
		{"cc" + ids + "03", "00" + ids + "01"},
		{"cc" + ids + "09", "00" + ids + "01"},
		{"cc" + ids + "f1", "00" + ids + "01"},
		{"cc" + ids + "08", "00" + ids + "00"},
		{"cc" + ids + "0f", "00" + ids + "01"},
		{"cc" + ids + "fe-" + strings.Repeat("x", 1<<20) + "\r\n", "00" + ids + "00"},
		{"ff" + ids + "01", ""},
	} {
		var r Request
		r.Start(t.Context(), nil, nil, "", c.in)
		if got := r.Traceparent(); got != c.want {
			t.Errorf("%.70q: got %.70q, want %q", c.in, got, c.want)
		}
	}
}

// The oracle is the grammar of the specification as a regular expression.
func FuzzParseTraceparent(f *testing.F) {
	form := regexp.MustCompile(`^(?:00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}|[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-(?s:.*))?)$`)
	f.Add("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	f.Add("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x")
	f.Add("ff-00000000000000000000000000000000-0000000000000000-00")
	f.Fuzz(func(t *testing.T, s string) {
		m := form.FindStringSubmatch(s)
		var wantTrace, wantSpan string
		if m != nil {
			wantTrace, wantSpan = m[1]+m[3], m[2]+m[4]
		}
		want := m != nil && !strings.HasPrefix(s, "ff") && (len(s) == 55 || s[:2] != "00") &&
			strings.Trim(wantTrace, "0") != "" && strings.Trim(wantSpan, "0") != ""
		trace, span, ok := parseTraceparent(s)
		if ok != want || ok && (trace != wantTrace || span != wantSpan) {
			t.Errorf("parseTraceparent(%q): got %q, %q, %v; want %q, %q, %v", s, trace, span, ok, wantTrace, wantSpan, want)
		}
	})
}
