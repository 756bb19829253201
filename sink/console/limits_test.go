// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"strings"
	"testing"

	"github.com/nib-log/nib"
)

func TestLimitsOfAConfig(t *testing.T) {
	for _, c := range []struct {
		config Config
		valid  bool
	}{
		{Config{Width: maxWidth}, true}, {Config{Width: maxWidth + 1}, false},
		{Config{Width: -1}, true},
		{Config{MessageWidth: maxMessageWidth}, true},
		{Config{MessageWidth: maxMessageWidth + 1}, false},
		{Config{MessageWidth: -1}, true},
		{Config{Color: ColorNever}, true}, {Config{Color: ColorNever + 1}, false},
	} {
		if err := c.config.Validate(); (err == nil) != c.valid {
			t.Errorf("%+v: got %v, want valid: %v", c.config, err, c.valid)
		}
	}
}

func TestColumnsOfMessages(t *testing.T) {
	for width, want := range map[int]int{
		-1: 40, 0: 40, 1: 16, 60: 16, 63: 17, 119: 39, 120: 40, 1000: 40,
	} {
		p := &painter{view: new(view), width: width}
		if got := p.messageColumns(); got != want {
			t.Errorf("%d columns: got %d, want %d", width, got, want)
		}
	}
}

func TestGapsOfAnyWidth(t *testing.T) {
	for gap := range 200 {
		p := &painter{view: new(view), gap: gap}
		if p.begin(""); string(p.dst) != strings.Repeat(" ", gap) {
			t.Errorf("got %d spaces, want %d", len(p.dst), gap)
		}
	}
}

func TestLettersOfTags(t *testing.T) {
	for c := byte(' '); c < 0x7f; c++ {
		if c == '"' || c == '\\' {
			continue
		}
		p := &painter{view: newView(Config{}, false)}
		want := strings.ToUpper(string(c))
		if got, _ := p.tagOf([]byte{'"', c, '"'}, 0); string(got) != want {
			t.Errorf("%q: got %q, want %q", c, got, want)
		}
	}
	for text, want := range map[string]string{
		"": "", "\t": "    ", "\t\t": "        ", "a\t": `a\t`, " ": " ",
	} {
		if got := appendPlain(nil, []byte(text)); string(got) != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestMessagesBelowInfoAreNotBold(t *testing.T) {
	s := New(new(bytes.Buffer), Config{Color: ColorAlways})
	for level, want := range map[string]bool{"debug+3": false, "info": true, "info+1": true} {
		shown := s.Render(nil, []byte(`{"level":"`+level+`","message":"m"}`))
		if got := bytes.Contains(shown, []byte(sgrBold+"m")); got != want {
			t.Errorf("%s: got %q, want bold: %v", level, shown, want)
		}
	}
}

func TestErrorsInBlocks(t *testing.T) {
	s := New(new(bytes.Buffer), Config{Color: ColorNever, TimeFormat: nib.OmitKey})
	for line, want := range map[string]string{
		`{"error":"\nx"}`:                 blockMarker + "error: \n" + blockMarker + "x\n",
		`{"error":"a\nb","error":"c\nd"}`: blockMarker + "error: c\n" + blockMarker + "d\n",
	} {
		got := string(s.Render(nil, []byte(line)))
		if !strings.HasSuffix(got, want) {
			t.Errorf("%s: got %q, want %q at the end", line, got, want)
		}
	}
}
