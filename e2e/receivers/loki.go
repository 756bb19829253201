// SPDX-License-Identifier: Apache-2.0

//go:build linux

package receivers

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// lokiVersion is the version of Loki.
const lokiVersion = "v3.7.8"

// lokiConfig has Loki's own configuration for one process, without limits of
// the rate. Its write-ahead log has a request before the response is sent.
const lokiConfig = `auth_enabled: false
server: {http_listen_address: 127.0.0.1, http_listen_port: %s, grpc_listen_address: 127.0.0.1, grpc_listen_port: %s, log_level: error}
common:
  instance_addr: 127.0.0.1
  path_prefix: data
  storage: {filesystem: {chunks_directory: data/chunks, rules_directory: data/rules}}
  replication_factor: 1
  ring: {kvstore: {store: inmemory}}
ingester: {wal: {enabled: true, dir: data/wal}}
limits_config: {ingestion_rate_mb: 1000, ingestion_burst_size_mb: 1000, per_stream_rate_limit: 1GB, per_stream_rate_limit_burst: 1GB}
schema_config:
  configs: [{from: 2020-10-24, store: tsdb, object_store: filesystem, schema: v13, index: {prefix: index_, period: 24h}}]
analytics: {reporting_enabled: false}
`

// lokiPage is the number of lines that Loki returns for a query.
const lokiPage = 5000

// A Loki is a Loki server with a write-ahead log. It stores equal lines with
// equal times once.
type Loki struct{ server }

// StartLoki starts a Loki.
func StartLoki(t testing.TB) *Loki {
	t.Helper()
	dir := cached(t, "loki-"+lokiVersion, "loki", "full", buildLoki)
	s, port, other := newServer(t)
	l := &Loki{s}
	if err := write(l.dir,
		map[string]string{"config.yaml": fmt.Sprintf(lokiConfig, port, other)}); err != nil {
		t.Fatal(err)
	}
	l.command = func() *exec.Cmd {
		return exec.Command(filepath.Join(dir, "loki"), "-config.file=config.yaml")
	}
	begin(t, l)
	return l
}

// buildLoki builds Loki, which takes about six minutes. Its go.mod replaces
// modules, so the build needs the same go.mod.
func buildLoki(dir string) error {
	const module = "github.com/grafana/loki/v3"
	out, err := exec.Command("go", "mod", "download", "-json", module+"@"+lokiVersion).Output()
	var m struct{ Dir string }
	if err := errors.Join(err, json.Unmarshal(out, &m)); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(m.Dir, "go.mod"))
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(m.Dir, "go.sum"))
	if err != nil {
		return err
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "module ") {
			line = "module loki\n"
		}
		if !strings.Contains(line, "=> ./") {
			lines = append(lines, line)
		}
	}
	lines = append(lines, "require "+module+" "+lokiVersion+"\n")
	if err := write(dir,
		map[string]string{"go.mod": strings.Join(lines, ""), "go.sum": string(sums)}); err != nil {
		return err
	}
	return run(dir, []string{"GOFLAGS=-mod=mod", "GOWORK=off"}, "go", "build", "-o", "loki",
		module+"/cmd/loki")
}

// URL implements Receiver.
func (l *Loki) URL() string { return "http://" + l.addr + "/otlp/v1/logs" }

// Arrivals implements Receiver. It reads pages of lines in the order of time.
func (l *Loki) Arrivals(t testing.TB) iter.Seq[Arrival] {
	return func(yield func(Arrival) bool) {
		from, end := time.Now().Add(-24*time.Hour).UnixNano(), time.Now().Add(time.Hour).UnixNano()
		last := map[string]bool{} // lines of the previous page with the time from
		for {
			page := l.page(t, from, end)
			fresh := 0
			for _, e := range page {
				if at := strconv.FormatInt(e.at, 10); last[at+e.Message] {
					continue
				}
				fresh++
				if !yield(e.Arrival) {
					return
				}
			}
			if fresh == 0 || len(page) < lokiPage {
				return
			}
			from = page[len(page)-1].at
			clear(last)
			for _, e := range page {
				if e.at == from {
					last[strconv.FormatInt(e.at, 10)+e.Message] = true
				}
			}
		}
	}
}

// A lokiEntry is a line.
type lokiEntry struct {
	Arrival
	at int64
}

// page returns the first lines from a time on, in the order of time.
func (l *Loki) page(t testing.TB, from, end int64) (page []lokiEntry) {
	t.Helper()
	query := url.Values{
		"query": {`{service_name=~".+"}`}, "direction": {"forward"}, "limit": {strconv.Itoa(lokiPage)},
		"start": {strconv.FormatInt(from, 10)}, "end": {strconv.FormatInt(end, 10)},
	}
	req, err := http.NewRequest(http.MethodGet,
		"http://"+l.addr+"/loki/api/v1/query_range?"+query.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Loki-Response-Encoding-Flags", "categorize-labels")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	var m struct {
		Data struct {
			Result []struct{ Values [][3]json.RawMessage }
		}
	}
	if err := errors.Join(err, json.Unmarshal(text, &m)); err != nil ||
		resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v\n%.1000s", resp.Status, err, text)
	}
	for _, stream := range m.Data.Result {
		for _, v := range stream.Values {
			var e lokiEntry
			var at string
			var meta struct{ StructuredMetadata map[string]string }
			if err := errors.Join(json.Unmarshal(v[0], &at), json.Unmarshal(v[1], &e.Message),
				json.Unmarshal(v[2], &meta)); err != nil {
				t.Fatal(err)
			}
			if e.at, err = strconv.ParseInt(at, 10, 64); err != nil {
				t.Fatal(err)
			}
			e.UID = meta.StructuredMetadata["log_record_uid"]
			page = append(page, e)
		}
	}
	slices.SortStableFunc(page, func(a, b lokiEntry) int { return cmp.Compare(a.at, b.at) })
	return page
}
