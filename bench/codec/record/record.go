// SPDX-License-Identifier: Apache-2.0

// Package record has the values that are encoded. They are package variables,
// so that the compiler cannot treat one encoder's argument as a constant and
// another's not.
package record

import "time"

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

// Served is a Line without Labels.
var Served = Line{
	Service: "checkout", Method: "POST", Path: "/api/v1/orders/4711", Status: 201, Bytes: 48213, Attempt: 2,
	Duration: 12.75, Cached: true, Time: time.Date(2026, 11, 21, 6, 30, 15, 123456789, time.UTC),
	Tags: []string{"web", "eu-west-1", "canary"}, User: &User{8123, "Ada Lovelace"}, Labels: map[string]string{},
}

// WantServed is Served in JSON.
const WantServed = `{"service":"checkout","method":"POST","path":"/api/v1/orders/4711","status":201,"bytes":48213,
	"attempt":2,"duration_ms":12.75,"cached":true,"time":"2026-11-21T06:30:15.123456789Z",
	"tags":["web","eu-west-1","canary"],"user":{"id":8123,"name":"Ada Lovelace"},"labels":{}}`

// Six is a struct with the entries of SixMap.
type Six struct {
	Attempt int     `json:"attempt"`
	Cached  bool    `json:"cached"`
	Method  string  `json:"method"`
	Path    string  `json:"path"`
	Ratio   float64 `json:"ratio"`
	Status  int     `json:"status"`
}

// SixStruct and SixMap are the same six fields.
var (
	SixStruct = Six{Attempt: 2, Cached: true, Method: "POST", Path: "/api/v1/orders/4711", Ratio: 0.25, Status: 201}
	SixMap    = map[string]any{"status": 201, "method": "POST", "path": "/api/v1/orders/4711", "ratio": 0.25, "cached": true, "attempt": 2}
)

// WantSix is the JSON of both, in this order.
const WantSix = `{"attempt":2,"cached":true,"method":"POST","path":"/api/v1/orders/4711","ratio":0.25,"status":201}`
