// SPDX-License-Identifier: Apache-2.0

package codec

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
	six = map[string]any{"status": 201, "method": "POST", "path": "/api/v1/orders/4711", "ratio": 0.25,
		"cached": true, "attempt": 2}
)

const (
	wantServed = `{"service":"checkout","method":"POST","path":"/api/v1/orders/4711","status":201,
	"bytes":48213,"attempt":2,"duration_ms":12.75,"cached":true,"time":"2026-11-21T06:30:15.123456789Z",
	"tags":["web","eu-west-1","canary"],"user":{"id":8123,"name":"Ada Lovelace"},"labels":{}}`
	wantSix = `{"attempt":2,"cached":true,"method":"POST","path":"/api/v1/orders/4711","ratio":0.25,
	"status":201}`
)
