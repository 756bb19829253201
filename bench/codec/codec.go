// SPDX-License-Identifier: Apache-2.0

// Package codec compares nib's encoding of structs and maps with other JSON
// encoders, and its formatter for logrus with logrus's. Its tests compare the
// encoder with the JSON Schema that package schema returns.
package codec

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"github.com/bytedance/sonic/encoder"
	goccy "github.com/goccy/go-json"
	segmentio "github.com/segmentio/encoding/json"
	"github.com/sirupsen/logrus"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bench"
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
			{Name: "go-json", Path: "github.com/goccy/go-json"},
			{Name: "sonic", Path: "github.com/bytedance/sonic"},
			{Name: "segmentio", Path: "github.com/segmentio/encoding"},
			{Name: "logrus", Path: "github.com/sirupsen/logrus"},
		},
		Tables: []measure.Table{
			{Title: "Encoders",
				Note: "The struct has four strings, int, int64, uint8, float64, bool, " +
					"time, a slice of three strings, a pointer to a struct, an empty map.",
				Scenarios: []measure.Scenario{
					{Name: "JSONStruct", Title: "a struct of 12 fields",
						Same:        bench.Same(wantServed),
						Contestants: encoders(&served, schema.MustFor[Line]().AppendJSON)},
					{Name: "JSONMap", Title: "a map[string]any of 6 entries, sorted",
						Same:        bench.Same(wantSix),
						Contestants: encoders(six, schema.AppendMap)},
				}},
			{Title: "logrus: a whole call",
				Note: "`WithFields(logrus.Fields{…}).Info(…)` to `io.Discard`. " +
					"*logrus-formats-nothing* is the share of logrus itself.",
				Scenarios: []measure.Scenario{
					{Name: "Call", Title: "WithFields and Info, 1 field", Versus: "logrus",
						Same: bench.Same(`{` + entry + `}`),
						Contestants: calls(func() logrus.Fields {
							return logrus.Fields{"task_id": "7f3a-19"}
						})},
					{Name: "CallEight", Title: "WithFields and Info, 8 fields", Versus: "logrus",
						Same: bench.Same(`{` + entry + `,"method":"GET","path":"/v1/orders/8731",
							"status":200,"size":48231,"cached":true,"load":0.75,
							"request":"3f2a9c1e-7d55-4c0e-9b1f"}`),
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
// escaping. sonic does not check that strings are UTF-8, which is its default.
func encoders[T any](v T, own func(dst []byte, v T) ([]byte, error)) []measure.Contestant {
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
	return measure.Contestant{Name: name, New: func(p measure.Place) measure.Run {
		var buf []byte
		return measure.Run{Do: func(n int) {
			for range n {
				buf = measure.Must(encode(buf[:0]))
			}
			measure.Must(p.W.Write(buf))
		}}
	}}
}

// entry has the common keys of the lines of logrus.
const entry = `"time":"now","level":"info","msg":"request handled","task_id":"7f3a-19"`

// calls returns loggers of logrus with several formatters.
func calls(fields func() logrus.Fields) []measure.Contestant {
	call := func(l *logrus.Logger, n int) {
		for range n {
			l.WithFields(fields()).Info("request handled")
		}
	}
	with := func(f logrus.Formatter) bench.Setup {
		return bench.Row(func(w io.Writer) *logrus.Logger {
			l := logrus.New()
			l.SetOutput(w)
			l.SetFormatter(f)
			l.SetNoLock() // io.Discard needs none
			return l
		}, call)
	}
	installed := bench.Row(func(w io.Writer) *logrus.Logger {
		l := logrus.New()
		niblogrus.Install(l, nib.New(w, nib.WithLayout(layout.Logrus())))
		l.SetNoLock()
		return l
	}, call)
	return []measure.Contestant{
		{Name: "nib", New: with(&niblogrus.Formatter{})},
		{Name: "nib-installed", New: installed},
		{Name: "logrus", New: with(&logrus.JSONFormatter{})},
		{Name: "logrus-formats-nothing", New: with(nothing{}), Aside: true},
	}
}

// nothing is a formatter that writes nothing.
type nothing struct{}

func (nothing) Format(*logrus.Entry) ([]byte, error) { return nil, nil }

// A Line has the fields that a service logs for a request.
type Line struct {
	Service  string            `json:"service"`
	Method   string            `json:"method"`
	Path     string            `json:"path"`
	Status   int               `json:"status"`
	Bytes    int64             `json:"bytes"`
	Attempt  uint8             `json:"attempt"`
	Duration float64           `json:"duration_ms"`
	Cached   bool              `json:"cached"`
	Time     time.Time         `json:"time"`
	Tags     []string          `json:"tags"`
	User     *User             `json:"user"`
	Labels   map[string]string `json:"labels"`
}

// A User is the user who made the request.
type User struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// The values are package variables, so that the compiler cannot treat one
// encoder's argument as a constant and another's not.
var (
	served = Line{
		Service: "checkout", Method: "POST", Path: "/api/v1/orders/4711", Status: 201, Bytes: 48213,
		Attempt: 2, Duration: 12.75, Cached: true,
		Time: time.Date(2026, 11, 21, 6, 30, 15, 123456789, time.UTC),
		Tags: []string{"web", "eu-west-1", "canary"}, User: &User{8123, "Ada Lovelace"},
		Labels: map[string]string{},
	}
	six = map[string]any{"status": 201, "method": "POST", "path": "/api/v1/orders/4711",
		"ratio": 0.25, "cached": true, "attempt": 2}
)

const (
	wantServed = `{"service":"checkout","method":"POST","path":"/api/v1/orders/4711","status":201,
	"bytes":48213,"attempt":2,"duration_ms":12.75,"cached":true,
	"time":"2026-11-21T06:30:15.123456789Z","tags":["web","eu-west-1","canary"],
	"user":{"id":8123,"name":"Ada Lovelace"},"labels":{}}`
	wantSix = `{"attempt":2,"cached":true,"method":"POST","path":"/api/v1/orders/4711","ratio":0.25,
	"status":201}`
)
