// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/logread"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/sink/console"
)

// requestLines returns n lines of a service, each of about 250 bytes.
func requestLines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		level := [...]string{"info", "debug", "info", "warn", "info", "error", "debug"}[i%7]
		fmt.Fprintf(&b, `{"time":"2026-11-20T00:%02d:%02d.%03dZ","level":%q,"service":"shop","host":"web-%d","trace_id":"%032x","method":"GET","path":"/api/v1/orders","status":200,"took":%d.25,"user":{"id":%d,"plan":"team"},"message":"request served by worker %d"}`+"\n",
			i/60000%60, i/1000%60, i%1000, level, i%20, i*7919, i%90, i*31, i%64)
	}
	return b.Bytes()
}

// consoleWorker renders all lines for people.
func consoleWorker(t testing.TB) *worker {
	t.Helper()
	form := Form{Output: "console", Console: console.Config{
		Color: console.ColorNever, Width: -1, TimeZone: time.UTC,
	}}
	newRenderer, _, err := form.NewRenderer()
	if err != nil {
		t.Fatal(err)
	}
	return (&Selection{Query: logread.And()}).newWorker(newRenderer(), false)
}

func TestTheConsoleViewAllocatesNothingPerLine(t *testing.T) {
	w, b := consoleWorker(t), &block{data: requestLines(20)}
	alloctest.Zero(t, func() { w.process(b) })
}

// The numbers that the journal, pino and bunyan have for times and levels are
// shown as what they mean.
func TestTheConsoleNamesNumericLevels(t *testing.T) {
	for line, want := range map[string]string{
		`{"__REALTIME_TIMESTAMP":"1795176000250000","PRIORITY":"4","MESSAGE":"m","_PID":"7"}`: `12:00:00.250 WARN m _PID="7"`,
		`{"PRIORITY":"2","MESSAGE":"m"}`:                                                                "PANIC m",
		`{"level":30,"time":1795176000250,"pid":7,"msg":"m"}`:                                           "12:00:00.250 INFO m pid=7",
		`{"name":"x","pid":7,"level":50,"msg":"a \"level\":20","time":"2026-11-20T12:00:00.25Z","v":0}`: "ERROR",
		`{"a":"\"level\":2","level":"WARNING","time":"2026-11-20T12:00:00.25Z","msg":"m"}`:              `12:00:00.250 WARN m a="\"level\":2"`,
		`web-1 | {"level":60,"time":1795176000250,"msg":"m"}`:                                           "web-1 | 12:00:00.250 FATAL m",
		`{"level":30,"time":"noon","msg":"m"}`:                                                          "INFO m",
		`{"level":[30],"time":1795176000250,"msg":"m"}`:                                                 "12:00:00.250 [30] m",
		`{"level":30,"msg":"cut of`:                                                                     "cut of",
	} {
		b := &block{data: []byte(line + "\n")}
		consoleWorker(t).process(b)
		if got := strings.Join(strings.Fields(string(b.out)), " "); !strings.Contains(got, strings.Join(strings.Fields(want), " ")) {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
	}
}

// How a line is shown does not depend on the lines before it, whose keys are
// tried first.
func TestTheConsoleFindsTheKeysOfEachLine(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 2))
	members := []string{
		`"time":"2026-11-20T00:00:01Z"`, `"ts":1795262400.25`, `"@timestamp":"2026-11-20T00:00:01Z"`, `"time":"noon"`,
		`"level":"info"`, `"log.level":"warn"`, `"severity":"ERROR"`, `"level":7`,
		`"message":"a"`, `"msg":"b"`, `"msg":""`, `"body":{"message":"c"}`, `"message":"\"msg\":\"d"`, `"msg":"\\"`, `"message":7`,
		`"a":"\"message\":"`, `"a\"msg":"e"`, `"a,\"message":"f"`, `"caller":"x.go:1"`, `"source":"y.go:2"`, `"stack":"g\nh"`, `"error":"i"`, `"took":1.5`,
	}
	last, fresh := consoleWorker(t), consoleWorker(t)
	for range 20_000 {
		var list []string
		for range 1 + r.IntN(4) {
			list = append(list, members[r.IntN(len(members))])
		}
		line := "{" + strings.Join(list, ",") + []string{"}", "}", "}", "}}", "", `"}`}[r.IntN(6)] + "\n"
		got, want := &block{data: []byte(line)}, &block{data: []byte(line)}
		last.process(got)
		fresh.renderer.(*painters).last = nil
		fresh.process(want)
		if string(got.out) != string(want.out) {
			t.Fatalf("%s: got %q, want %q", line, got.out, want.out)
		}
	}
}

// BenchmarkConsole measures the console view on one processor, beside a search
// for the line breaks alone.
func BenchmarkConsole(b *testing.B) {
	data := requestLines(10_000)
	b.Run("view", func(b *testing.B) {
		w, block := consoleWorker(b), &block{data: data}
		w.process(block)
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			w.process(block)
		}
	})
	b.Run("lines", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			n := 0
			for from := 0; from < len(data); n++ {
				from += logread.LineLen(data[from:])
			}
			if n != 10_000 {
				b.Fatal(n)
			}
		}
	})
}
