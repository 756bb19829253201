// SPDX-License-Identifier: Apache-2.0

//go:build linux

package receivers

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// victoriaVersion is the version of VictoriaMetrics, whose module has the
// newest VictoriaLogs that the module proxy serves. It needs Go 1.24.
const (
	victoriaVersion = "v1.112.0"
	victoriaGo      = "go1.24.13"
)

// A VictoriaLogs is a VictoriaLogs server behind a proxy. VictoriaLogs keeps
// accepted records in memory for a second or two, and loses them if it is
// killed. The proxy responds when nothing is left in memory.
type VictoriaLogs struct {
	server
	proxy *httptest.Server
}

// StartVictoriaLogs starts a VictoriaLogs.
func StartVictoriaLogs(t testing.TB) *VictoriaLogs {
	t.Helper()
	const program = "victoria-logs"
	dir := cached(t, program+"-"+victoriaVersion, program, "full", func(dir string) error {
		const module = "github.com/VictoriaMetrics/VictoriaMetrics"
		err := write(dir, map[string]string{"go.mod": "module victorialogs\n\ngo 1.24\n\nrequire " +
			module + " " + victoriaVersion + "\n"})
		env := []string{"GOFLAGS=-mod=mod", "GOWORK=off", "GOTOOLCHAIN=" + victoriaGo}
		return errors.Join(err, run(dir, env, "go", "build", "-o", program, module+"/app/"+program))
	})
	s, _, _ := newServer(t)
	v := &VictoriaLogs{server: s}
	v.command = func() *exec.Cmd {
		return exec.Command(filepath.Join(dir, program), "-httpListenAddr="+v.addr,
			"-storageDataPath=data",
			"-inmemoryDataFlushInterval=1s", "-search.maxQueryDuration=10m", "-retentionPeriod=100y")
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: v.addr})
	proxy.ModifyResponse = func(*http.Response) error { return v.awaitDisk() }
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) {
		w.WriteHeader(http.StatusBadGateway)
	}
	v.proxy = httptest.NewServer(proxy)
	t.Cleanup(v.proxy.Close)
	begin(t, v)
	return v
}

// awaitDisk waits until VictoriaLogs has written the records in memory.
func (v *VictoriaLogs) awaitDisk() error {
	for {
		resp, err := http.Get("http://" + v.addr + "/metrics")
		if err != nil {
			return err
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			return err
		}
		if bytes.Contains(text, []byte("vl_storage_rows{type=\"storage/inmemory\"} 0\n")) {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// URL implements Receiver.
func (v *VictoriaLogs) URL() string { return v.proxy.URL + "/insert/opentelemetry/v1/logs" }

// Arrivals implements Receiver. It restarts the server with SIGTERM, so that
// the server writes the records in memory.
func (v *VictoriaLogs) Arrivals(t testing.TB) iter.Seq[Arrival] {
	v.end(syscall.SIGTERM)
	if err := v.Start(); err != nil {
		t.Fatal(err)
	}
	return func(yield func(Arrival) bool) {
		resp, err := http.PostForm("http://"+v.addr+"/select/logsql/query",
			url.Values{"query": {`* | fields _msg, "` + uidAttribute + `"`}})
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		for dec := json.NewDecoder(resp.Body); ; {
			var x struct {
				Message string `json:"_msg"`
				UID     string `json:"log.record.uid"`
			}
			if err := dec.Decode(&x); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				t.Fatal(err)
			}
			if !yield(Arrival(x)) {
				return
			}
		}
	}
}
