// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/nib-log/nib/internal/jsonenc"
)

// An object is a JSON object decoded by encoding/json, with its members in
// their order and with those whose keys are the same.
type object []pair

type pair struct {
	key   string
	value any // object, []any, string, json.Number, bool or nil
}

// decode reads one JSON object.
func decode(t *testing.T, line []byte) object {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	o, ok := decodeValue(t, line, dec).(object)
	if !ok || dec.More() {
		t.Fatalf("%q is not one object", line)
	}
	return o
}

func decodeValue(t *testing.T, line []byte, dec *json.Decoder) any {
	t.Helper()
	token := func() json.Token {
		token, err := dec.Token()
		if err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		return token
	}
	switch first := token(); first {
	case json.Delim('{'):
		o := object{}
		for dec.More() {
			key, _ := token().(string)
			o = append(o, pair{key, decodeValue(t, line, dec)})
		}
		token()
		return o
	case json.Delim('['):
		a := []any{}
		for dec.More() {
			a = append(a, decodeValue(t, line, dec))
		}
		token()
		return a
	default:
		return first
	}
}

// compactObject turns the input of a fuzzer into a line: an object as nib would
// write it, or nil.
func compactObject(src []byte) []byte {
	line, err := AppendCompact(nil, src, 100)
	if err != nil || line[0] != '{' {
		return nil
	}
	return line
}

// lineSeeds are objects of many kinds.
var lineSeeds = func() (seeds [][]byte) {
	for _, s := range []string{
		`{}`, `{"a":1}`, `{"level":"info","time":"2024-02-29T01:02:03.456Z","message":"中文 and 🙂","n":[1,2.5e-7,null,true,{"a":"b"}]}`,
		`{"a":1,"b":2,"a":3,"a#2":4,"\u0061":5}`, `{"":"","":[],"":{}}`, `{"a":"\ud83d\ude42\ud800\u0000\n\"\\"}`,
		`{"password":{"a":[1,{"b":"}"}]},"x":["password=1","http://a:b@c/"]}`, `{"p\u0061ssword":1,"m":"p\u0061ssword=1\/"}`,
		`{"truncated":1,"truncated#2":2,"message":"a text of some length that can be cut"}`,
	} {
		seeds = append(seeds, []byte(s))
	}
	for _, tt := range textTests {
		seeds = append(seeds, inLine(tt.in))
		seeds = append(seeds, jsonenc.AppendString([]byte(`{"a":{"b":[`), tt.in))
		seeds[len(seeds)-1] = append(seeds[len(seeds)-1], `,1]},"token":2}`...)
	}
	return seeds
}()
