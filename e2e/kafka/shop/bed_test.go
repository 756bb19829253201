// SPDX-License-Identifier: Apache-2.0

//go:build linux

package shop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/nib-log/nib/dest/kafka/embedded"
	"github.com/nib-log/nib/e2e/servers"
)

// source is the folder of the program.
const source = "../../../examples/shop"

// build returns the path of the program.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "shop")
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "shop")
	cmd := exec.Command("go", "build", "-o", program, ".")
	cmd.Dir = source
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return program, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if program, err := build(); err == nil {
		_ = os.RemoveAll(filepath.Dir(program))
	}
	os.Exit(code)
}

// A bed has the servers that the shop needs.
type bed struct {
	db     *servers.Postgres
	kafka  *embedded.Cluster
	traces *servers.Collector // nil: spans are not exported
	dir    string
	addr   string // of the edge
}

const topic = "shop"

func newBed(t *testing.T, withTraces bool) *bed {
	t.Helper()
	dir, err := os.MkdirTemp("", "nib") // below t.TempDir the user of the database may not read
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	addrs, err := servers.UnusedAddresses(1)
	must(t, err)
	b := &bed{dir: dir, addr: addrs[0]}
	if b.db, err = servers.NewPostgres(dir); errors.Is(err, servers.ErrNoPostgres) {
		t.Skip(err)
	}
	must(t, err)
	must(t, b.db.Start())
	t.Cleanup(b.db.Kill)
	if withTraces {
		if b.traces, err = servers.NewCollector(dir); errors.Is(err, servers.ErrNoCollector) {
			t.Skip(err)
		}
		must(t, err)
		must(t, b.traces.Start())
		t.Cleanup(b.traces.Stop)
	}
	b.kafka, err = embedded.Start(embedded.Config{Topic: topic})
	must(t, err)
	t.Cleanup(b.kafka.Close)
	return b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (b *bed) file() string { return filepath.Join(b.dir, "shop.log") }

// A shop is the program, running.
type shop struct {
	cmd    *exec.Cmd
	output bytes.Buffer
}

// start starts the program and waits until it serves.
func (b *bed) start(t *testing.T) *shop {
	t.Helper()
	program, err := build()
	must(t, err)
	s := &shop{cmd: exec.Command(program)}
	s.cmd.Env = append(os.Environ(), "DATABASE_URL="+b.db.URL, "HTTP_ADDR="+b.addr,
		"NIB_OUTPUT=file:"+b.file()+",kafka://"+b.kafka.Addrs()[0]+"/"+topic+"?spool="+filepath.Join(b.dir, "spool"))
	if b.traces != nil {
		s.cmd.Env = append(s.cmd.Env, "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+b.traces.Addr)
	}
	s.cmd.Stdout, s.cmd.Stderr = &s.output, &s.output
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must(t, s.cmd.Start())
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if conn, err := net.Dial("tcp", b.addr); err == nil {
			_ = conn.Close()
			return s
		}
		if time.Now().After(deadline) {
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
			t.Fatalf("the shop does not serve: %s", s.output.String())
		}
	}
}

// stop ends it by SIGTERM. It has to end with status 0 and to write nothing but
// to its outputs.
func (s *shop) stop(t *testing.T) {
	t.Helper()
	must(t, s.cmd.Process.Signal(syscall.SIGTERM))
	if err := s.cmd.Wait(); err != nil || s.output.Len() > 0 {
		t.Errorf("the shop ended with %v and the output %q", err, s.output.String())
	}
}

// kill ends it by SIGKILL.
func (s *shop) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// client makes a connection for each order: http.Server.Shutdown would wait
// five seconds for a connection that was made in advance.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// order sends an order as a part of a trace.
func (b *bed) order(trace, item, n string) (status int, body string, err error) {
	r, err := http.NewRequest("POST", "http://"+b.addr+"/orders/"+item+"?n="+n, nil)
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
	resp, err := client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// A line is the part of a line that the tests look at.
type line struct {
	text string

	Level, Logger, Caller, Message, Error, Cause string
	TraceID                                      string `json:"trace_id"`
	SpanID                                       string `json:"span_id"`
	RequestID                                    string `json:"request_id"`
	Backtrace                                    bool
	Status, N                                    int
}

// grep returns the output of the command: the lines of a trace.
func (b *bed) grep(t *testing.T, trace string) (lines []line) {
	t.Helper()
	out, err := exec.Command("grep", trace, b.file()).Output()
	if err != nil {
		t.Fatalf("grep %s: %v", trace, err)
	}
	return parse(t, strings.SplitAfter(string(out), "\n"))
}

func parse(t *testing.T, texts []string) (lines []line) {
	t.Helper()
	for _, text := range texts {
		if text == "" {
			continue
		}
		l := line{text: strings.TrimSuffix(text, "\n")}
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		lines = append(lines, l)
	}
	return lines
}

// inFile returns all lines of the file.
func (b *bed) inFile(t *testing.T) []line {
	t.Helper()
	text, err := os.ReadFile(b.file())
	must(t, err)
	return parse(t, strings.SplitAfter(string(text), "\n"))
}

// inTopic returns the lines of the topic.
func (b *bed) inTopic(t *testing.T) []line {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(b.kafka.Addrs()...), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	must(t, err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	end := int64(-1)
	var texts []string
	for int64(len(texts)) != end {
		fetches := client.PollFetches(ctx)
		must(t, fetches.Err())
		fetches.EachPartition(func(p kgo.FetchTopicPartition) { end = p.HighWatermark })
		fetches.EachRecord(func(r *kgo.Record) { texts = append(texts, string(r.Value)) })
	}
	return parse(t, texts)
}
