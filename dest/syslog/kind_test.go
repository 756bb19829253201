// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/settings"
	"github.com/nib-log/nib/target"
)

// read reads a target of Kind.
func read(text string) (*params, target.Target, error) {
	to, p, err := target.Parse(text, []target.Spec{Kind})
	if p == nil {
		return nil, to, err
	}
	return p.(*params), to, err
}

// Each parameter reaches the Config, which has no other fields.
func TestEveryParameterReachesTheConfig(t *testing.T) {
	p, _, err := read(`syslog+tls://logs:6514?app=a&facility=LOCAL3&hostname=h&msgid=m&structured_data=[o@1 ip="x"]&sequence_id=nib@1&max_size=1kB&too_long=reject&timeout=2s&stall=3s&dial_timeout=4s&window=5&tls_name=n`)
	must.Succeed(t, err)
	for _, s := range settings.Of(p) {
		if s.Doc == "" || s.Default == "" || !s.IsSet() && !strings.HasPrefix(s.Name, "tls_") {
			t.Errorf("%s is not set, or has no documentation or default", s.Name)
		}
	}
	c, err := p.config()
	must.Succeed(t, err)
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && v.Field(i).IsZero() {
			t.Errorf("Config.%s is not set", f.Name)
		}
	}
	if c.AppName != "a" || c.Facility != "local3" || c.MaxSize != 1000 || c.Timeout != 2*time.Second || c.Window != 5 || c.TLS.ServerName != "n" {
		t.Errorf("got %+v", c)
	}
}

// The documentation and Config have the same defaults.
func TestDefaultsOfParameters(t *testing.T) {
	var none, all params
	list := settings.Of(&all)
	for i := range list {
		_ = list[i].Set(list[i].Default) // some are described in words
	}
	want, _ := none.config()
	got, _ := all.config()
	got.AppName, got.Hostname, got.MsgID, got.SequenceID, got.StructuredData, got.TLS = "", "", "", "", "", nil
	if !reflect.DeepEqual(got.withDefaults(), want.withDefaults()) {
		t.Errorf("got  %+v\nwant %+v", got.withDefaults(), want.withDefaults())
	}
}

func TestKindMakesADestination(t *testing.T) {
	for text, want := range map[string][2]string{
		"syslog+tcp://[::1]:514":      {"tcp", "[::1]:514"},
		"syslog+tls://logs:6514":      {"tls", "logs:6514"},
		"syslog+relp://logs:2514":     {"relp", "logs:2514"},
		"syslog+relp+tls://logs:2514": {"relp+tls", "logs:2514"},
		"syslog+unix:/run/a%20b.sock": {"unix", "/run/a b.sock"},
		"syslog+unixgram:///dev/log":  {"unixgram", "/dev/log"},
		"SYSLOG+unixgram:@run/log":    {"unixgram", "@run/log"},
	} {
		p, to, err := read(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		d, err := p.open(to)
		if err != nil || d.network != want[0] || d.addr != want[1] {
			t.Errorf("%s: got %+v, %v, want %q", text, d, err, want)
			continue
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A relative path belongs to the directory in which the target was read, or New
// was called.
func TestRelativePathsOfSockets(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	t.Chdir(first)
	first, err := os.Getwd() // without links
	must.Succeed(t, err)
	p, to, err := read("syslog+unix:log.sock")
	must.Succeed(t, err)
	d, err := New("unixgram", "log.sock", Config{})
	must.Succeed(t, err)
	defer d.Close()
	t.Chdir(second)
	parsed, err := p.open(to)
	must.Succeed(t, err)
	defer parsed.Close()
	if want := filepath.Join(first, "log.sock"); parsed.addr != want || d.addr != want {
		t.Errorf("got %s for a target and %s from New, want %s", parsed.addr, d.addr, want)
	}
}

func TestFaultsOfParameters(t *testing.T) {
	for text, want := range map[string]string{
		"syslog+tcp://logs:514?app=a%20b":     `nib/syslog: AppName "a b" is not`,
		"syslog+tcp://logs:514?max_size=10B":  "nib/syslog: MaxSize is less",
		"syslog+tcp://logs:514?tls_name=x":    "nib/syslog: Config.TLS is set",
		"syslog+tls://logs:6514?tls_ca=/none": "tls_ca: open /none",
		"syslog+tls://logs:6514?tls_cert=a":   "tls_cert: tls_cert and tls_key must be set together",
		"syslog+tcp://a:1?structured_data=x":  `nib/syslog: StructuredData: want [ID NAME="VALUE"], got "x"`,
		"syslog+unix:":                        "want syslog+unix:PATH",
		"syslog+tcp://logs:514?window=-1":     `window: "-1" is not a count`,
	} {
		_, _, err := read(text)
		var f *settings.ParamError
		if err == nil || !strings.HasPrefix(err.Error(), want) || !errors.As(err, &f) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// TestStructuredDataIsReadAsItIsWritten has the examples of RFC 5424 as
// parameters.
func TestStructuredDataIsReadAsItIsWritten(t *testing.T) {
	for text, want := range map[string][]element{
		`[a]`: {{id: "a"}},
		`[origin@32473 ip="10.0.0.1" ip="10.0.0.2"][x y=""]`: {
			{"origin@32473", []param5424{{"ip", "10.0.0.1"}, {"ip", "10.0.0.2"}}}, {"x", []param5424{{"y", ""}}},
		},
		`[a b="\"c\\d\] = é"]`: {{"a", []param5424{{"b", `"c\d] = é`}}}},
		`[a b="\n"]`:           {{"a", []param5424{{"b", `\n`}}}}, // RFC 5424, section 6.3.3: a regular backslash
	} {
		c := Config{StructuredData: text}
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if _, m := encode(t, c, record("{}", 1)); !reflect.DeepEqual(m.data, want) {
			t.Errorf("%s: got %+v, want %+v", text, m.data, want)
		}
	}
	for _, text := range []string{"x", "[", "[]", "[a", "[a b]", "[a b=]", `[a b="]`, `[a b="c]`, `[a b="c"`, `[a b="c"d="e"]`, `[a b="c" ]`, "[a] [b]", `[a =""]`, `[a b="c\`} {
		if (Config{StructuredData: text}).Validate() == nil {
			t.Errorf("%s: got no error", text)
		}
	}
}
