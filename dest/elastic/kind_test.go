// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/httpsend/httpsendtest"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/settings"
	"github.com/nib-log/nib/target"
)

func ExampleNew() {
	_, err := New("http://opensearch:9200", "logs/app", Config{})
	fmt.Println(err)
	out, err := New("http://opensearch:9200", "logs-app", Config{Compression: "gzip"})
	if err != nil {
		return
	}
	defer out.Close()
	fmt.Println(out.Stats())
	// Output:
	// nib/elastic: "logs/app" is not the name of an index or a data stream
	// {0 0 0 0 0 0}
}

func TestEveryParameterReachesTheConfig(t *testing.T) {
	t.Setenv(passwordVariable, "geheim\n")
	to, params_, err := target.Parse("elastic+https://es:9200/logs?user=me&pipeline=p&compression=gzip&max_request=1MB&timeout=2s&tls_name=n", []target.Spec{Kind})
	must.Succeed(t, err)
	p := params_.(*params)
	for _, s := range settings.Of(p) {
		if s.Doc == "" || s.Default == "" || !s.IsSet() && !strings.HasPrefix(s.Name, "tls_") && s.Name != "headers_file" {
			t.Errorf("%s is not set, or has no documentation or default", s.Name)
		}
	}
	c, err := p.config(to)
	must.Succeed(t, err)
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; name != "OnError" && name != "Dial" && v.Field(i).IsZero() {
			t.Errorf("Config.%s is not set", name)
		}
	}
	if got := c.Header.Get("Authorization"); got != "Basic bWU6Z2VoZWlt" {
		t.Errorf("got Authorization %q", got)
	}
	d, err := p.Open(to)
	if err != nil || d.(*Destination).index != "logs" {
		t.Errorf("got %v and %v", d, err)
	}
}

func TestWrongTargets(t *testing.T) {
	t.Setenv(passwordVariable, "")
	for text, want := range map[string]string{
		"elastic+http://es:9200":                      "want elastic+http://HOST:PORT/INDEX",
		"elastic+http://es:9200/a/":                   "is not the name of an index",
		"elastic+http://es:9200/a?user=me":            "user: has no password: set NIB_ELASTIC_PASSWORD",
		"elastic+http://es:9200/a?tls_name=n":         "for elastic+https",
		"elastic+http://es:9200/a?headers_file=/none": "headers_file: open /none",
		"elastic+http://es:9200/a?max_request=1GB":    "MaxRequest",
		"elastic+https://es:9200/a?compression=zstd":  "compression",
	} {
		if _, _, err := target.Parse(text, []target.Spec{Kind}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// A server behind a path gets all requests there.
func TestServerBehindAPath(t *testing.T) {
	var paths []string
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.Method+" "+r.URL.Path)
		_, _ = io.WriteString(w, `{"items":[{"create":{"status":201}}]}`)
	}))
	defer h.Close()
	for prefix, want := range map[string]string{"": "", "/search": "/search", "/a/b": "/a/b"} {
		to, p, err := target.Parse("elastic+"+h.URL+prefix+"/logs", []target.Spec{Kind})
		must.Succeed(t, err)
		d, err := p.(*params).open(to)
		must.Succeed(t, err)
		paths = nil
		_, err = d.Deliver(context.Background(), batchOf(1))
		err = errors.Join(err, d.Ping(context.Background()), d.Close())
		if want := slices.Repeat([]string{"POST " + want + "/logs/_bulk"}, 2); err != nil ||
			!slices.Equal(paths, want) {
			t.Errorf("%q: got %q and %v, want %q", prefix, paths, err, want)
		}
	}
	for _, server := range []string{"http://es:9200?pretty", "http://es:9200/#x"} {
		if _, err := New(server, "logs", Config{}); err == nil || !strings.Contains(err.Error(), "want http://HOST:PORT") {
			t.Errorf("%s: got %v", server, err)
		}
	}
}

func TestBodyAllocatesNothing(t *testing.T) {
	batch, want, b := batchOf(100), make([]int, 100), bulk{}
	for i := range want {
		want[i] = i
	}
	alloctest.Zero(t, func() {
		if _, n := b.Body(batch, want, 5<<20); n != len(batch) {
			t.Fatal("too long")
		}
	})
}

// Deliver allocates as much for a batch of 1,000 records as for one of 10,
// except for the buffer of the response.
func TestDeliverAllocatesNothingPerRecord(t *testing.T) {
	text := []byte(`{"items":[` + strings.TrimSuffix(strings.Repeat(`{"create":{"status":201}},`, 1000), ",") + `]}`)
	few := []byte(`{"items":[` + strings.TrimSuffix(strings.Repeat(`{"create":{"status":201}},`, 10), ",") + `]}`)
	h := httptest.NewServer(answering{few, text})
	defer h.Close()
	d, err := New(h.URL, "logs", Config{})
	must.Succeed(t, err)
	defer d.Close()
	some, many := mallocsOf(t, d, batchOf(10)), mallocsOf(t, d, batchOf(1000))
	if many > some+100 {
		t.Errorf("%v mallocs for 1,000 records, %v for 10", many, some)
	}
}

// mallocsOf returns the mallocs of a delivery, the server included.
func mallocsOf(t *testing.T, d *Destination, batch []nib.Record) float64 {
	mallocs, _ := alloctest.Count(func() {
		if res, err := d.Deliver(context.Background(), batch); err != nil || res.Accepted != len(batch) {
			t.Fatal(res, err)
		}
	}, 4)
	return mallocs
}

// Ping needs only the right to send to _bulk, and reports what would make
// Deliver fail.
func TestPing(t *testing.T) {
	const empty = `{"error":{"type":"parse_exception","reason":"request body is required"},"status":400}`
	for _, tt := range []struct {
		status int
		body   string
		want   string
	}{
		{400, empty, ""},
		{400, `{"error":{"type":"action_request_validation_exception","reason":"Validation Failed: 1: no requests added;"},"status":400}`, ""},
		{200, `{"items":[]}`, ""},
		{400, `{"error":{"type":"illegal_argument_exception","reason":"unrecognized parameter"},"status":400}`, "unrecognized parameter"},
		{400, "request body is required", "400 Bad Request"},
		{401, empty, "401 Unauthorized"}, {403, "", "403 Forbidden"}, {404, "", "404 Not Found"}, {302, "", "a redirect"}, {200, "<html>", "200 OK"},
	} {
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost || r.URL.Path != "/logs/_bulk" {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, tt.body)
		}))
		d, err := New(h.URL, "logs", Config{})
		must.Succeed(t, err)
		if err := d.Ping(context.Background()); tt.want == "" && err != nil || tt.want != "" &&
			(err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%d %s: got %v, want %q", tt.status, tt.body, err, tt.want)
		}
		h.Close()
		_ = d.Close()
	}
}

// The file of the authorities is read again while the program runs.
func TestCertificatesAreReadAgain(t *testing.T) {
	open := func(url, query string) (delivery.Destination, error) {
		to, p, err := target.Parse("elastic+"+url+"/logs"+query, []target.Spec{Kind})
		must.Succeed(t, err)
		return p.(*params).open(to)
	}
	httpsendtest.CertificatesAreReadAgain(t, &server{}, open)
}
