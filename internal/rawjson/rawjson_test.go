// SPDX-License-Identifier: Apache-2.0

package rawjson_test

import (
	"fmt"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/rawjson"
)

// appendTexts appends all strings in a value.
func appendTexts(dst, value []byte) []byte {
	switch value[0] {
	case '{':
		for _, v := range rawjson.Fields(value) {
			dst = appendTexts(dst, v)
		}
	case '[':
		for v := range rawjson.Elements(value) {
			dst = appendTexts(dst, v)
		}
	case '"':
		dst = append(rawjson.AppendText(dst, value[1:len(value)-1]), ' ')
	}
	return dst
}

func Example() {
	r := nib.Record{Line: []byte(`{"user":{"tags":["caf\u00e9","b\n"],"id":7}}`)}
	for key, value := range r.Fields() {
		fmt.Printf("%s: %q\n", key, appendTexts(nil, value))
	}
	// Output: user: "café b\n "
}

func TestAppendText(t *testing.T) {
	for escaped, want := range map[string]string{
		``: "", `plain`: "plain", `a\tb\"c\/`: "a\tb\"c/", `\ud83d\ude42`: "🙂", `\ud83d`: "\ufffd", "\xff": "\ufffd",
		`not \x escaped`: `not \x escaped`, `"`: `"`, `\`: `\`,
	} {
		if got := string(rawjson.AppendText([]byte("> "), []byte(escaped))); got != "> "+want {
			t.Errorf("AppendText(%s) = %q, want %q", escaped, got, "> "+want)
		}
	}
}

func TestReadingAllocatesNothing(t *testing.T) {
	value := []byte(`{"a":["x",{"b":"y\n"},[["z"]]],"c":{"d":{"e":["\u00e9"]}},"n":1}`)
	dst := make([]byte, 0, 100)
	alloctest.Zero(t, func() { dst = appendTexts(dst[:0], value) })
}
