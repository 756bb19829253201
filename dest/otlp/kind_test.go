// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"encoding/pem"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/httpsend/httpsendtest"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/settings"
	"github.com/nib-log/nib/target"
)

// clear removes the variables of the environment.
func clear(t *testing.T) {
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
}

// configOf reads a target.
func configOf(t *testing.T, text string) (string, Config) {
	t.Helper()
	to, p, err := target.Parse(text, []target.Spec{Kind})
	must.Succeed(t, err)
	url, c, err := p.(*params).config(to)
	must.Succeed(t, err)
	return url, c
}

func TestEveryParameterReachesTheConfig(t *testing.T) {
	clear(t)
	headers := filepath.Join(t.TempDir(), "headers")
	must.Succeed(t, os.WriteFile(headers,
		[]byte("Authorization: Bearer a:b\n\nX-Scope-OrgID:tenant\n"), 0o600))
	text := "otlp+https://logs:4318?url_path=/otlp/v1/logs&service=orders&layout=ecs&compression=gzip&max_request=1MB&headers_file=" + headers + "&timeout=2s&tls_name=n"
	_, p, err := target.Parse(text, []target.Spec{Kind})
	must.Succeed(t, err)
	for _, s := range settings.Of(p) {
		if s.Doc == "" || s.Default == "" || !s.IsSet() && !strings.HasPrefix(s.Name, "tls_") {
			t.Errorf("%s is not set, or has no documentation or default", s.Name)
		}
	}
	url, c := configOf(t, text)
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; name != "OnError" && name != "Dial" && v.Field(i).IsZero() {
			t.Errorf("Config.%s is not set", name)
		}
	}
	if url != "https://logs:4318/otlp/v1/logs" || c.Resource["service.name"] != "orders" || c.Layout.TimeKey != "@timestamp" || c.Compression != "gzip" ||
		c.MaxRequest != 1000000 || c.Header.Get("Authorization") != "Bearer a:b" || c.Header.Get("X-Scope-OrgID") != "tenant" ||
		c.Timeout != 2*time.Second || c.TLS.ServerName != "n" {
		t.Errorf("got %s and %+v", url, c)
	}
}

// The variables for logs have precedence over those for all signals.
func TestEnvironment(t *testing.T) {
	for _, tt := range []struct {
		name string
		env  map[string]string
		url  string
		want Config
	}{
		{"nothing", nil, "http://localhost:4318/v1/logs", Config{}},
		{"endpoint of all signals", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://c:4318/base/"}, "https://c:4318/base/v1/logs", Config{}},
		{"endpoint of logs", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://l:9428/insert"}, "http://l:9428/insert", Config{}},
		{"others", map[string]string{
			"OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20a%2Cb, x-y = z", "OTEL_EXPORTER_OTLP_LOGS_TIMEOUT": "2500", "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
			"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip", "OTEL_RESOURCE_ATTRIBUTES": "service.name=a,team=b%20c", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
		}, "http://localhost:4318/v1/logs", Config{
			Header:  map[string][]string{"Authorization": {"Bearer a,b"}, "X-Y": {"z"}},
			Timeout: 2500 * time.Millisecond, Compression: "gzip", Resource: map[string]string{"service.name": "a", "team": "b c"},
		}},
		{"service", map[string]string{"OTEL_RESOURCE_ATTRIBUTES": "service.name=a", "OTEL_SERVICE_NAME": "b\n"}, "http://localhost:4318/v1/logs", Config{Resource: map[string]string{"service.name": "b"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clear(t)
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			url, got, err := FromEnv()
			must.Succeed(t, err)
			if tt.want.Resource == nil {
				tt.want.Resource = map[string]string{"service.name": "unknown_service:" + filepath.Base(os.Args[0])}
			}
			if url != tt.url || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %s %+v\nwant %s %+v", url, got, tt.url, tt.want)
			}
			if url, _ := configOf(t, "otlp"); url != tt.url {
				t.Errorf("the target otlp is %s, want %s", url, tt.url)
			}
		})
	}
}

// A parameter has precedence over a variable, and a variable applies otherwise.
func TestParametersBeforeVariables(t *testing.T) {
	clear(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://elsewhere:4318")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1000")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "a=b")
	url, c := configOf(t, "otlp+http://here:4318?compression=none&service=s")
	if url != "http://here:4318/v1/logs" || c.Compression != "none" || c.Timeout != time.Second || c.Header.Get("a") != "b" || !maps.Equal(c.Resource, map[string]string{"service.name": "s"}) {
		t.Errorf("got %s and %+v", url, c)
	}
}

// The certificate may be for the endpoint of another signal.
func TestCertificatesAreForHTTPS(t *testing.T) {
	clear(t)
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	must.Succeed(t, os.WriteFile(file,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
			Bytes: server.Certificate().Raw}), 0o600))
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", file)
	for endpoint, want := range map[string]bool{"http://c:4318": false, "https://c:4318": true} {
		t.Setenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", endpoint)
		url, c, err := FromEnv()
		if err != nil || (c.TLS != nil) != want {
			t.Errorf("%s: got %v and %v", endpoint, c.TLS, err)
		}
		if d, err := New(url, c); err != nil {
			t.Error(err)
		} else {
			_ = d.Close()
		}
	}
}

func TestSeverityOfAnyLevel(t *testing.T) {
	for level, want := range map[nib.Level]byte{math.MinInt: 1, nib.LevelTrace: 1, nib.LevelTrace + 1: 2, nib.LevelInfo: 9, nib.LevelFatal: 24, math.MaxInt: 24} {
		if got := severity(level); got != want {
			t.Errorf("%v: got %d, want %d", level, got, want)
		}
	}
}

func TestWrongVariables(t *testing.T) {
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318", "OTEL_EXPORTER_OTLP_LOGS_TIMEOUT": "1s", "OTEL_EXPORTER_OTLP_COMPRESSION": "lzma",
		"OTEL_EXPORTER_OTLP_HEADERS": "secret", "OTEL_RESOURCE_ATTRIBUTES": "a=%zz", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
		"OTEL_EXPORTER_OTLP_CERTIFICATE": "/none",
	} {
		t.Run(name, func(t *testing.T) {
			clear(t)
			t.Setenv(name, value)
			if _, _, err := FromEnv(); err == nil || !strings.Contains(err.Error(), "nib/otlp: "+name+": ") || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, want an error with the variable, without a header", err)
			}
			if _, _, err := target.Parse("otlp", []target.Spec{Kind}); err == nil {
				t.Error("the target otlp is accepted")
			}
		})
	}
}

func TestWrongTargets(t *testing.T) {
	clear(t)
	for text, want := range map[string]string{
		"otlp+http://collector":                         "has no port",
		"otlp+http://c:4318/v1/logs":                    "want otlp+http://HOST:PORT",
		"otlp+http://c:4318?url_path=v1":                "url_path: does not begin with a slash",
		"otlp+http://c:4318?tls_name=x":                 "for otlp+https",
		"otlp+http://c:4318?compression=lz4":            "compression",
		"otlp?url_path=/x":                              "is for a target with a host",
		"otlp+http://c:4318?headers_file=/none":         "headers_file: open /none",
		"otlp+http://c:4318?max_request=1GB":            "MaxRequest",
		"otlp+https://c:4318?tls_ca=/none":              "tls_ca: open /none",
		"http://c:4318":                                 "did you mean otlp+http?",
		"otlp+http://c:4318?headers_file=" + os.Args[0]: "headers_file",
	} {
		if _, _, err := target.Parse(text, []target.Spec{Kind}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// The label of the metrics has no key that is in the query of the URL.
func TestMetricsHaveNoKey(t *testing.T) {
	d, err := New("https://logs:4318/v1/logs?api_key=geheim", Config{})
	must.Succeed(t, err)
	defer d.Close()
	for m := range d.Metrics() {
		if got := fmt.Sprint(m.Labels); !strings.Contains(got, "https://logs:4318/v1/logs") ||
			strings.Contains(got, "geheim") {
			t.Errorf("%s has the labels %s", m.Name, got)
		}
	}
}

// The file of the authorities is read again while the program runs.
func TestCertificatesAreReadAgain(t *testing.T) {
	open := func(url, query string) (delivery.Destination, error) {
		to, p, err := target.Parse("otlp+"+url+query, []target.Spec{Kind})
		must.Succeed(t, err)
		return p.(*params).open(to)
	}
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	httpsendtest.CertificatesAreReadAgain(t, ok, open)
}
