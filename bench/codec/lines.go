// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"context"
	"io"
	"time"

	"github.com/nib-log/nib"
)

// A request is the struct of a typed line: the ten fields of a request.
type request struct {
	Method  string        `json:"method"`
	Path    string        `json:"path"`
	ID      string        `json:"request"`
	Status  int           `json:"status"`
	Size    int64         `json:"size"`
	Trace   uint64        `json:"trace"`
	Cached  bool          `json:"cached"`
	Load    float64       `json:"load"`
	Took    time.Duration `json:"took" log:"unit=ms"`
	Started time.Time     `json:"started"`
}

var served = request{
	Method: "GET", Path: "/v1/accounts/7361/orders", ID: "01J9Z5T8QXW3M7KD", Status: 200, Size: 18342,
	Trace: 17293822569102704642, Cached: true, Load: 0.8731, Took: 1834512 * time.Nanosecond,
	Started: time.Date(2026, 3, 14, 9, 26, 53, 589e6, time.UTC),
}

const (
	servedMessage = "request served"

	wantLine = `{"time":"now","level":"info","method":"GET","path":"/v1/accounts/7361/orders","request":"01J9Z5T8QXW3M7KD",
		"status":200,"size":18342,"trace":17293822569102704642,"cached":true,"load":0.8731,"took":1.834512,
		"started":"2026-03-14T09:26:53.589Z","message":"request served"}`
)

var requestLine = nib.NewTemplate[request](nib.LevelInfo, servedMessage)

// lines returns the contest of nib's own ways to write a whole line of ten
// fields.
func lines() Scenario {
	return Scenario{Name: "TypedLine", Title: "a line of 10 fields, whole call", Versus: NibChain, Want: wantLine, Contestants: []Contestant{
		{Name: NibLine, New: func(w io.Writer) func(n int) {
			l, ctx := nib.New(w), context.Background()
			return func(n int) {
				for range n {
					requestLine.Log(ctx, l, &request{served.Method, served.Path, served.ID, served.Status, served.Size,
						served.Trace, served.Cached, served.Load, served.Took, served.Started})
				}
			}
		}},
		{Name: NibInline, New: func(w io.Writer) func(n int) {
			l := nib.New(w)
			return func(n int) {
				for range n {
					nib.Inline(l.Info(), request{served.Method, served.Path, served.ID, served.Status, served.Size,
						served.Trace, served.Cached, served.Load, served.Took, served.Started}).Msg(servedMessage)
				}
			}
		}},
		{Name: NibChain, New: func(w io.Writer) func(n int) {
			l := nib.New(w)
			return func(n int) {
				for range n {
					l.Info().Str("method", served.Method).Str("path", served.Path).Str("request", served.ID).
						Int("status", served.Status).Int64("size", served.Size).Uint64("trace", served.Trace).
						Bool("cached", served.Cached).Float64("load", served.Load).Dur("took", served.Took).
						Time("started", served.Started).Msg(servedMessage)
				}
			}
		}},
	}}
}
