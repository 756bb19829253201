// SPDX-License-Identifier: Apache-2.0

// Package codec compares nib's encoding of structs and maps with other JSON
// encoders, and its formatter for logrus with logrus's. Its tests compare the
// encoder with the JSON Schema that package schema returns.
package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"reflect"
	"time"

	"github.com/bytedance/sonic/encoder"
	goccy "github.com/goccy/go-json"
	jsoniter "github.com/json-iterator/go"
	segmentio "github.com/segmentio/encoding/json"
	"github.com/sirupsen/logrus"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/bridge/niblogrus"
	"github.com/nib-log/nib/layout"
	"github.com/nib-log/nib/schema"
)

// Set returns the set of the encoders.
func Set() measure.Set {
	return measure.Set{
		Name: "codec", Path: "docs/schema.md",
		Note: "Nanoseconds of one operation.",
		Modules: []measure.Module{
			{Name: "json-iterator", Path: "github.com/json-iterator/go"},
			{Name: "go-json", Path: "github.com/goccy/go-json"},
			{Name: "sonic", Path: "github.com/bytedance/sonic"},
			{Name: "segmentio", Path: "github.com/segmentio/encoding"},
			{Name: "logrus", Path: "github.com/sirupsen/logrus"},
		},
		Tables: []measure.Table{
			{Title: "Encoders", Note: "The struct has four strings, int, int64, uint8, float64, bool, " +
				"time, a slice of three strings, a pointer to a struct, an empty map.",
				Scenarios: []measure.Scenario{
					{Name: "JSONStruct", Title: "a struct of 12 fields", Same: Same(wantServed),
						Contestants: encoders(&served, schema.MustFor[Line]().AppendJSON)},
					{Name: "JSONMap", Title: "a map[string]any of 6 entries, sorted", Same: Same(wantSix),
						Contestants: encoders(six, schema.AppendMap)},
				}},
			{Title: "logrus: a whole call", Note: "`WithFields(logrus.Fields{…}).Info(…)` to `io.Discard`. " +
				"*logrus-formats-nothing* is the share of logrus itself.",
				Scenarios: []measure.Scenario{
					{Name: "Call", Title: "WithFields and Info, 1 field", Versus: "logrus",
						Same: Same(`{` + entry + `}`), Contestants: calls(func() logrus.Fields {
							return logrus.Fields{"task_id": "7f3a-19"}
						})},
					{Name: "CallEight", Title: "WithFields and Info, 8 fields", Versus: "logrus",
						Same: Same(`{` + entry + `,"method":"GET","path":"/v1/orders/8731","status":200,
							"size":48231,"cached":true,"load":0.75,"request":"3f2a9c1e-7d55-4c0e-9b1f"}`),
						Contestants: calls(func() logrus.Fields {
							return logrus.Fields{"task_id": "7f3a-19", "method": "GET",
								"path": "/v1/orders/8731", "status": 200, "size": int64(48231), "cached": true,
								"load": 0.75, "request": "3f2a9c1e-7d55-4c0e-9b1f"}
						})},
				}},
		},
	}
}

// encoders returns the JSON encoders. Each is used as its documentation
// recommends for speed, writes into memory that it keeps, and does no HTML
// escaping. sonic does not check that strings are UTF-8, which is its default;
// json-iterator writes floats with at most six digits.
func encoders[T any](v T, own func(dst []byte, v T) ([]byte, error)) []measure.Contestant {
	fast := jsoniter.Config{SortMapKeys: true, MarshalFloatWith6Digits: true,
		ObjectFieldMustBeSimpleString: true}.Froze()
	stream := jsoniter.NewStream(fast, nil, 512)
	var text bytes.Buffer
	std, other := json.NewEncoder(&text), goccy.NewEncoder(&text)
	std.SetEscapeHTML(false)
	other.SetEscapeHTML(false)
	encode := func(e interface{ Encode(any) error }) ([]byte, error) {
		text.Reset()
		err := e.Encode(v)
		return text.Bytes(), err
	}
	return []measure.Contestant{
		encoding("nib", func(buf []byte) ([]byte, error) { return own(buf, v) }),
		encoding("encoding/json", func([]byte) ([]byte, error) { return encode(std) }),
		encoding("json-iterator", func([]byte) ([]byte, error) {
			stream.Reset(nil)
			stream.WriteVal(v)
			return stream.Buffer(), stream.Error
		}),
		encoding("go-json", func([]byte) ([]byte, error) { return encode(other) }),
		encoding("sonic", func(buf []byte) ([]byte, error) {
			err := encoder.EncodeInto(&buf, v, encoder.SortMapKeys)
			return buf, err
		}),
		encoding("segmentio", func(buf []byte) ([]byte, error) {
			return segmentio.Append(buf, v, segmentio.SortMapKeys)
		}),
	}
}

// encoding returns a contestant that writes the text of the last operation of
// each round, so that it can be compared.
func encoding(name string, encode func(buf []byte) ([]byte, error)) measure.Contestant {
	return measure.Contestant{Name: name, New: func(p measure.Place) (measure.Run, error) {
		var buf []byte
		return measure.Run{Do: func(n int) {
			for range n {
				var err error
				if buf, err = encode(buf[:0]); err != nil {
					panic(err)
				}
			}
			if _, err := p.W.Write(buf); err != nil {
				panic(err)
			}
		}}, nil
	}}
}

// entry has the common keys of the lines of logrus.
const entry = `"time":"now","level":"info","msg":"request handled","task_id":"7f3a-19"`

// calls returns loggers of logrus with several formatters.
func calls(fields func() logrus.Fields) []measure.Contestant {
	with := func(f logrus.Formatter) func(io.Writer, *logrus.Logger) {
		return func(w io.Writer, l *logrus.Logger) {
			l.SetOutput(w)
			l.SetFormatter(f)
		}
	}
	var all []measure.Contestant
	for _, c := range []struct {
		name  string
		setup func(w io.Writer, l *logrus.Logger)
	}{
		{"nib", with(&niblogrus.Formatter{})},
		{"nib-installed", func(w io.Writer, l *logrus.Logger) {
			niblogrus.Install(l, nib.New(w, nib.WithLayout(layout.Logrus())))
		}},
		{"logrus", with(&logrus.JSONFormatter{})},
		{"logrus-formats-nothing", with(nothing{})},
	} {
		all = append(all, measure.Contestant{Name: c.name, Aside: c.name == "logrus-formats-nothing",
			New: func(p measure.Place) (measure.Run, error) {
				l := logrus.New()
				c.setup(p.W, l)
				l.SetNoLock() // io.Discard needs none
				return measure.Run{Do: func(n int) {
					for range n {
						l.WithFields(fields()).Info("request handled")
					}
				}}, nil
			}})
	}
	return all
}

// nothing is a formatter that writes nothing.
type nothing struct{}

func (nothing) Format(*logrus.Entry) ([]byte, error) { return nil, nil }

// Same returns a function that compares a text with the wanted JSON, except for
// the order of members and the notation of numbers. A wanted "now" stands for
// the present time; a contestant that formats nothing must write nothing.
func Same(want string) func(c *measure.Contestant, text []byte) error {
	return func(c *measure.Contestant, text []byte) error {
		if c.Aside {
			return measure.Only(nil)(c, text)
		}
		got, err := canonical(text)
		if err != nil {
			return fmt.Errorf("%q: %w", text, err)
		}
		expected, err := canonical([]byte(want))
		if err != nil {
			return fmt.Errorf("scenario: %w", err)
		}
		for key, v := range got {
			at, err := time.Parse(time.RFC3339, fmt.Sprint(v))
			if err == nil && expected[key] == "now" && time.Since(at).Abs() < time.Hour {
				got[key] = "now"
			}
		}
		if !reflect.DeepEqual(got, expected) {
			return fmt.Errorf("writes %s, want %s", text, want)
		}
		return nil
	}
}

func canonical(text []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v := map[string]any{}
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one value (%w)", err)
	}
	return plain(v).(map[string]any), nil
}

// number distinguishes a number from a string of its digits.
type number string

func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			v[key] = plain(member)
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case json.Number:
		if r, ok := new(big.Rat).SetString(v.String()); ok {
			return number(r.RatString())
		}
	}
	return v
}
