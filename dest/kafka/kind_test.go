// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/settings"
	"github.com/nib-log/nib/target"
)

var update = flag.Bool("update", false, "write the table of docs/kafka.md")

// readTarget reads a target of Kind.
func readTarget(text string) (*params, target.Target, error) {
	to, p, err := target.Parse(text, []target.Spec{Kind})
	if p == nil {
		return nil, to, err
	}
	return p.(*params), to, err
}

// Each parameter reaches the Config, which has no other fields but OnError.
// RoundRobin excludes a Key: see TestPartitioningOfTheService.
func TestEveryParameterReachesTheConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	must.Succeed(t, os.WriteFile(file, []byte("hunter2\n"), 0o600))
	p, _, err := readTarget("kafka://a:1,b:2/logs?client_id=c&partitioning=keyed&key=user&compression=zstd&max_batch=1kB&dead_letter=d&create_topic=on" +
		"&timeout=1s&takeover_delay=3s&user=me&mechanism=plain&allow_clear_text=on&tls=on&tls_name=n&password_file=" + settings.Escape(file))
	must.Succeed(t, err)
	p.TransactionalID = "id" // which Validate rejects with keys
	for _, s := range settings.Of(p) {
		if s.Doc == "" || s.Default == "" || !s.IsSet() && !strings.HasPrefix(s.Name, "tls_") {
			t.Errorf("%s is not set, or has no documentation or default", s.Name)
		}
	}
	c, err := p.config()
	must.Succeed(t, err)
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.IsExported() && f.Name != "OnError" && f.Name != "RoundRobin" && v.Field(i).IsZero() {
			t.Errorf("Config.%s is not set", f.Name)
		}
	}
	if want := (SASL{Mechanism: "PLAIN", User: "me", Password: "hunter2", AllowClearText: true}); *c.SASL != want || c.TLS.ServerName != "n" || c.MaxBatch != 1000 {
		t.Errorf("got %+v", c)
	}
}

// The documented defaults are the Config's defaults.
func TestDefaultsOfParameters(t *testing.T) {
	var none, all params
	list := settings.Of(&all)
	for i := range list {
		switch list[i].Name {
		case "client_id", "compression", "max_batch", "timeout", "takeover_delay", "create_topic":
			if err := list[i].Set(list[i].Default); err != nil {
				t.Error(err)
			}
		}
	}
	want, err := none.config()
	must.Succeed(t, err)
	got, _ := all.config()
	if !reflect.DeepEqual(got.withDefaults(), want.withDefaults()) {
		t.Errorf("got  %+v\nwant %+v", got.withDefaults(), want.withDefaults())
	}
	all = params{User: "me", Mechanism: find(t, list, "mechanism").Default}
	t.Setenv(passwordVariable, "hunter2\n")
	if s, err := all.sasl(); err != nil || s.Mechanism != "SCRAM-SHA-512" || s.Password != "hunter2" {
		t.Errorf("got %+v, %v", s, err)
	}
}

// find returns an existing setting.
func find(t *testing.T, list []settings.Setting, name string) *settings.Setting {
	t.Helper()
	s := settings.Find(list, name)
	if s == nil {
		t.Fatalf("there is no parameter %s", name)
	}
	return s
}

func TestFaultsOfParameters(t *testing.T) {
	for text, want := range map[string]string{
		"kafka://a:9/l?compression=rar":                                    `compression: "rar" is not a compression (want lz4, none, snappy, zstd or gzip)`,
		"kafka://a:9/l?tls=maybe":                                          `tls: "maybe" is not a switch`,
		"kafka://a:9/l?user=me":                                            "user: has no password: set NIB_KAFKA_PASSWORD or password_file",
		"kafka://a:9/l?user=me&password_file=/none":                        "password_file: open /none",
		"kafka://a:9/l?mechanism=plain":                                    "user: is missing",
		"kafka://a:9/l?allow_clear_text=on":                                "user: is missing",
		"kafka://a:9/l?password_file=kind_test.go":                         "user: is missing",
		"kafka://a:9/l?tls_ca=/none":                                       "tls_ca: open /none",
		"kafka://a:9/l?user=me&mechanism=plain&password_file=kind_test.go": "mechanism: plain would send the password in clear text: write tls=on, ",
		"kafka://a:9/l?partitioning=x":                                     `partitioning: "x" is not a partitioning`,
		"kafka://a:9/l?partitioning=keyed":                                 "partitioning: keyed needs key=FIELD",
		"kafka://a:9/l?partitioning=per_spool&key=a":                       "partitioning: keyed needs key=FIELD",
		"kafka://a:9092":                                                   "want kafka://HOST:PORT,HOST:PORT/TOPIC, got kafka://a:9092",
		"kafka://a:9092/":                                                  "want kafka://HOST:PORT,HOST:PORT/TOPIC, and the topic",
		"kafka://a:9092/b/c":                                               "want kafka://HOST:PORT,HOST:PORT/TOPIC, and the topic",
		"kafka://a:9092,b/logs":                                            `want kafka://HOST:PORT,HOST:PORT/TOPIC: "b" has no port`,
		"kafka://a:9092/logs?acks=1":                                       "acks: there is no such setting",
		"kafka://a:9/l?max_batch=1TB":                                      "nib/kafka: MaxBatch is not from 0",
		"kafka://a:9/l?timeout=901s":                                       "nib/kafka: Timeout is not from 0 to 15m0s: 15m1s",
		"kafka://a:9/l?client_id=" + strings.Repeat("x", 257):              "nib/kafka: ClientID is longer than 256 bytes",
		"kafka://a:9/l?transactional_id=x&key=y":                           "transactional_id: needs partitioning=per_spool",
	} {
		_, _, err := readTarget(text)
		var f *settings.ParamError
		if err == nil || !strings.HasPrefix(err.Error(), want) || !errors.As(err, &f) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{
		"kafka://a:9/l?tls=on", "kafka://a:9/l?transactional_id=x",
		"kafka://a:9/l?user=me&password_file=kind_test.go", "kafka://a:9/l?user=me&mechanism=plain&allow_clear_text=on&password_file=kind_test.go",
	} {
		p, to, err := readTarget(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if c, _ := p.config(); (c.TLS != nil) != p.TLS {
			t.Errorf("%s: got TLS %v", text, c.TLS)
		}
		p.User, p.PasswordFile = "me", "/none" // the file is gone since
		if d, err := p.Open(to); d != nil || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: got %v, %v", text, d, err)
		}
	}
	most := Config{Timeout: maxTimeout, ClientID: strings.Repeat("x", maxClientID)}
	d, err := New([]string{"a:9"}, "l", most)
	must.Succeed(t, err)
	d.Close()
}

// The relay chooses partitions like the service, or returns an error that names
// the missing parameter.
func TestPartitioningOfTheService(t *testing.T) {
	key := func(*nib.Record) []byte { return nil }
	for _, c := range []struct {
		service *Config // nil without a mark
		options string
		want    partitioning
		err     string
	}{
		{&Config{}, "", perSpool, ""},
		{nil, "?key=user", keyed, ""},
		{&Config{}, "?partitioning=round_robin", roundRobin, ""},
		{&Config{}, "?key=user", 0, "leave out key"},
		{&Config{}, "?partitioning=keyed&key=user", keyed, ""},
		{&Config{RoundRobin: true}, "", roundRobin, ""},
		{&Config{RoundRobin: true}, "?partitioning=per_spool", perSpool, ""},
		{&Config{Key: key}, "", 0, "add key=FIELD"},
		{&Config{Key: key}, "?key=user", keyed, ""},
		{&Config{Key: key}, "?partitioning=per_spool", perSpool, ""},
	} {
		p, to, err := readTarget("kafka://127.0.0.1:1/logs" + c.options)
		must.Succeed(t, err)
		if c.service != nil {
			service, err := New([]string{"127.0.0.1:1"}, "logs", *c.service)
			must.Succeed(t, err)
			to.Mark = service.Mark()
			_ = service.Close()
		}
		d, err := p.Open(to)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v, %q: got %v, want %q", c.service, c.options, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v, %q: %v", c.service, c.options, err)
			continue
		}
		if got, ok := partitioningOf(d.(*Destination).Mark()); got != c.want || !ok {
			t.Errorf("%+v, %q: got %v, want %v", c.service, c.options, got, c.want)
		}
		_ = d.(*Destination).Close()
	}
}

// TestDocumentationHasEveryParameter compares the table with the tags used to
// decode the parameters.
func TestDocumentationHasEveryParameter(t *testing.T) {
	const file, begin, end = "../../docs/kafka.md", "<!-- parameters:start -->\n", "<!-- parameters:end -->"
	b, err := os.ReadFile(file)
	must.Succeed(t, err)
	before, rest, ok := strings.Cut(string(b), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("the marks %q and %q are missing", begin, end)
	}
	want := before + begin + "| Parameter | Value | Default |\n|---|---|---|\n" + settings.Table(settings.Of(new(params))) + end + after
	if *update {
		must.Succeed(t, os.WriteFile(file, []byte(want), 0o644))
	} else if string(b) != want {
		t.Error("the table differs from the tags: go test -run Documentation -update")
	}
}
