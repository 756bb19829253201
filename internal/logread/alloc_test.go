// SPDX-License-Identifier: Apache-2.0

package logread_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/logread"
)

func TestNothingIsAllocatedPerLine(t *testing.T) {
	lines := [][]byte{
		[]byte(served),
		[]byte(`time="2026-11-21T12:00:00Z" level=warning msg="a \"b\"" took=1.5s path=/api/v2`),
		[]byte(`2026-11-21 12:00:00 ERROR it failed`),
		[]byte(`{"message":"neither a level nor a time"}`),
		[]byte(`web-1  | {"time":1795262400.25,"level":"info","message":"m","user":{"id":"\u0061"},"took":"250ms","path":"/api/v7"}`),
	}
	for _, query := range []string{
		`level == error`,
		`level >= warn and took > 250ms and path ~ "^/api"`,
		`path ~ "v[0-9]+$" or user.id = a or message contains b`,
		`time >= "2026-11-21" and line contains 12 and status in (500, 503) and method != GET and wait_seconds < 3s`,
		`took > 312.123456789012345678 or id > 5`,
	} {
		q := parse(t, query)
		l := new(logread.Line)
		t.Run(query, func(t *testing.T) {
			alloctest.Zero(t, func() {
				for _, text := range lines {
					l.Reset(text)
					q.Match(l)
					q.Lacks(l)
				}
			})
		})
	}
	l := new(logread.Line)
	n := 0
	t.Run("methods", func(t *testing.T) {
		alloctest.Zero(t, func() {
			for _, text := range lines {
				l.Reset(text)
				_, _ = l.Time()
				_, _ = l.Level()
				n += len(l.Text(l.Message())) + len(l.Key("time"))
				for key := range l.Fields() {
					n += len(key)
				}
			}
		})
	})
}

// benchLines are a million bytes of a service's lines.
func benchLines() []byte {
	if name := os.Getenv("NIB_LOG"); name != "" {
		text, err := os.ReadFile(name)
		if err != nil {
			panic(err)
		}
		return text
	}
	var b bytes.Buffer
	for i := 0; b.Len() < 1<<20; i++ {
		level := "info"
		if i%10 == 0 {
			level = "error"
		}
		b.WriteString(`{"time":"2026-11-21T12:00:00.123Z","level":"` + level + `","logger":"http.server","method":"GET","path":"/api/v1/orders",` +
			`"status":200,"took":111.895,"tenant":"t-25","trace":"c4647159c324c9859b810e766ec9d286","message":"request served by worker 1"}` + "\n")
	}
	return b.Bytes()
}

func BenchmarkMatch(b *testing.B) {
	text := benchLines()
	for _, query := range []string{
		"level == error",
		"level >= warn and took > 250ms and path ~ '^/api'",
		"tenant = t-7",
		"time > '2026-11-21 12:00'",
		"line contains 'no such text'",
	} {
		q := parse(b, query)
		b.Run(query, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			l := new(logread.Line)
			for b.Loop() {
				for rest := text; len(rest) > 0; {
					n := logread.LineLen(rest)
					l.Reset(rest[:n])
					q.Match(l)
					rest = rest[n:]
				}
			}
		})
	}
}
