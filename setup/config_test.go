// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/target"
)

// env is an environment.
type env map[string]string

func (e env) list() (list []string) {
	for name, value := range e {
		list = append(list, name+"="+value)
	}
	return list
}

func (e env) read() (Config, error) { return e.readWith() }

func (e env) readWith(kinds ...target.Spec) (Config, error) {
	r := reading{kinds: kinds}
	c := readEnv("NIB_", e.list(), &r)
	return c, r.err()
}

func TestEnvironment(t *testing.T) {
	for _, tt := range []struct {
		name string
		env  env
		want Config
	}{
		{"nothing", env{}, Config{}},
		{"empty", env{"NIB_LEVEL": "", "NIB_OUTPUT": ""}, Config{}},
		{"white space", env{"NIB_OUTPUT": "file:/var/log/app.log\n", "NIB_LEVEL": " warn", "NIB_STACK": "\r\n"},
			Config{Level: "warn", Output: []string{"file:/var/log/app.log"}}},
		{"others' names", env{"NIB_PORT": "tcp://10.0.0.1:80", "NIB_COLOR": "x", "LEVEL": "x"}, Config{}},
		{"level", env{"NIB_LEVEL": "warn"}, Config{Level: "warn"}},
		{"levels", env{"NIB_LEVEL": "warn,db=debug,http.*=error"}, Config{Level: "warn,db=debug,http.*=error"}},
		{"format", env{"NIB_FORMAT": "ECS"}, Config{Format: "ecs"}},
		{"switches", env{"NIB_CALLER": "on", "NIB_SIGNALS": "OFF", "NIB_REOPEN": "0", "NIB_CRASH": "true", "NIB_DEFAULT": "1"},
			Config{Caller: SwitchOn, Signals: SwitchOff, Reopen: SwitchOff, Crash: SwitchOn, Default: SwitchOn}},
		{"stack", env{"NIB_STACK": "error", "NIB_TIMEOUT": "1m30s"}, Config{Stack: "error", Timeout: 90 * time.Second}},
		{"fields", env{"NIB_FIELDS": "service=shop,note=a%2Cb%3Dc,none="}, Config{Fields: map[string]string{"service": "shop", "note": "a,b=c", "none": ""}}},
		{"output", env{"NIB_OUTPUT": "stderr"}, Config{Output: []string{"stderr"}}},
		{"outputs", env{"NIB_OUTPUT": "stdout?buffer=64KiB&delay=2ms&stall=1s&format=console&level=info+2,discard,journald?identifier=shop&prefix=SHOP_&line=JSON&socket=/run/j"},
			Config{Output: []string{
				"stdout?buffer=64KiB&delay=2ms&stall=1s&format=console&level=info+2", "discard",
				"journald?identifier=shop&prefix=SHOP_&line=JSON&socket=/run/j",
			}}},
		{"file", env{"NIB_OUTPUT": "file:/var/log/a%2Cb?max_size=100MB&every=24h&at=00:00&at=12:30&zone=UTC&backups=5&max_age=7d&max_total=2GiB&compress=gzip&mode=0640&min_free=1kb&sync=flush"},
			Config{Output: []string{"file:/var/log/a%2Cb?max_size=100MB&every=24h&at=00:00&at=12:30&zone=UTC&backups=5&max_age=7d&max_total=2GiB&compress=gzip&mode=0640&min_free=1kb&sync=flush"}}},
		{"spool", env{"NIB_OUTPUT": "file:a.log?spool=/var/spool/a&spool_size=64MiB"}, Config{Output: []string{"file:a.log?spool=/var/spool/a&spool_size=64MiB"}}},
		{"path as an option", env{"NIB_OUTPUT": `file?path=C:\logs\app.log,file:C:\b.log`}, Config{Output: []string{`file?path=C:\logs\app.log`, `file:C:\b.log`}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.env.read()
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, tt.want)
			}
			if err := got.Validate(); err != nil {
				t.Errorf("what was read is not valid: %v", err)
			}
		})
	}
}

func TestPrefix(t *testing.T) {
	t.Setenv("SHOP_LEVEL", "error")
	t.Setenv("NIB_LEVEL", "debug")
	for prefix, want := range map[string]string{
		"SHOP": "error", "SHOP_": "error", "NIB": "debug", "NIB_": "debug", "": "debug", "ELSE": "",
	} {
		if c, err := Read(FromEnv(prefix)); err != nil || c.Level != want {
			t.Errorf("prefix %q: got level %q, %v, want %q", prefix, c.Level, err, want)
		}
	}
}

func TestJSON(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       Config
	}{
		{"empty", " {} \n", Config{}},
		{"null", `{"level":null,"output":null,"fields":null,"caller":null}`, Config{}},
		{"plain", `{"level":"warn","format":"gcp","caller":true,"stack":"error","timeout":"2s","signals":false,"reopen":"off","crash":true,"default":true}`,
			Config{Level: "warn", Format: "gcp", Caller: SwitchOn, Stack: "error", Timeout: 2 * time.Second, Signals: SwitchOff, Reopen: SwitchOff, Crash: SwitchOn, Default: SwitchOn}},
		{"fields", `{"fields":{"service":"shop","shard":7,"canary":true}}`, Config{Fields: map[string]string{"service": "shop", "shard": "7", "canary": "true"}}},
		{"fields as text", `{"fields":"service=shop"}`, Config{Fields: map[string]string{"service": "shop"}}},
		{"number as level", `{"level":-4,"stack":8}`, Config{Level: "-4", Stack: "8"}},
		{"output as text", `{"output":"stdout,stderr?level=warn"}`, Config{Output: []string{"stdout", "stderr?level=warn"}}},
		{"output as object", `{"output":{"to":"file","path":"a,b?c%d","max_size":"1000B","backups":3,"at":["00:00","06:00"],"mode":"0600"}}`,
			Config{Output: []string{"file?path=a%2Cb%3Fc%25d&max_size=1000B&backups=3&at=00:00&at=06:00&mode=0600"}}},
		{"outputs", `{"output":["stdout?buffer=1KiB",{"to":"file","path":"x","at":"00:00"}]}`,
			Config{Output: []string{"stdout?buffer=1KiB", "file?path=x&at=00:00"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read(Load(strings.NewReader(tt.text)))
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, tt.want)
			}
			roundTrip(t, got)
		})
	}
}

// roundTrip writes a configuration as JSON and reads it again.
func roundTrip(t *testing.T, c Config) {
	t.Helper()
	text, err := json.Marshal(c)
	must.Succeed(t, err)
	var again Config
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again, c) {
		t.Errorf("%s is read as\n     %+v, %v\nwant %+v", text, again, err, c)
	}
}

func TestConfigAsPartOfALargerStruct(t *testing.T) {
	var app struct {
		Port int
		Log  Config
	}
	text := `{"port":80,"log":{"level":"debug","output":["kafka://b:9092/logs?spool=memory"]}}`
	if err := json.Unmarshal([]byte(text), &app); err != nil || app.Log.Level != "debug" || app.Log.Output[0] != "kafka://b:9092/logs?spool=memory" {
		t.Errorf("got %+v, %v", app, err)
	}
	if err := json.Unmarshal([]byte(`{"log":null}`), &app); err != nil || app.Log.Level != "debug" {
		t.Errorf("null: got %+v, %v, want no change", app, err)
	}
	err := json.Unmarshal([]byte(`{"log":{"level":"inof","colour":1}}`), &app)
	if want := []string{"level", "colour"}; !reflect.DeepEqual(places(err), want) {
		t.Errorf("got faults at %q, want %q", places(err), want)
	}
}

// places returns where the faults of an error are.
func places(err error) (list []string) {
	var one *fault
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			list = append(list, places(err)...)
		}
	} else if errors.As(err, &one) {
		list = append(list, one.where)
	}
	return list
}

func TestLaterSourcesWin(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log.json")
	file := `{"level":"error","format":"ecs","caller":true,"crash":true,"timeout":"1s","output":["stderr","discard"],"fields":{"a":"file","b":"file","c":"file"}}`
	must.Succeed(t, os.WriteFile(name, []byte(file), 0o600))
	over := env{"NIB_CONFIG": name, "NIB_LEVEL": "warn", "NIB_CRASH": "off", "NIB_OUTPUT": "stdout", "NIB_FIELDS": "b=env,c=env"}
	fromEnv := sourceFunc(func(r *reading) Config { return readEnv("NIB_", over.list(), r) })
	code := Config{Level: "debug", Fields: map[string]string{"c": "code"}, Options: []nib.Option{nib.WithCaller()}}
	got, err := Read(fromEnv, nil, code, Config{Options: []nib.Option{nib.WithCaller()}})
	if err != nil || len(got.Options) != 2 {
		t.Fatalf("got %d options, %v, want 2", len(got.Options), err)
	}
	got.Options = nil
	want := Config{
		Level: "debug", Format: "ecs", Caller: SwitchOn, Crash: SwitchOff, Timeout: time.Second, Output: []string{"stdout"},
		Fields: map[string]string{"a": "file", "b": "env", "c": "code"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if len(code.Fields) != 1 {
		t.Error("merging has changed the map of a source")
	}
}

func TestErrorOfLoadNamesTheFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log.json")
	must.Succeed(t, os.WriteFile(name, []byte(`{"level":"inof"}`), 0o600))
	f, err := os.Open(name)
	must.Succeed(t, err)
	defer f.Close()
	_, err = Read(Load(f))
	if got, want := places(err), []string{name + ": level"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	_, err = Read(Load(bytes.NewReader(make([]byte, maxJSON+1))))
	if err == nil || !strings.Contains(err.Error(), "is longer than") {
		t.Errorf("got %v for a huge file", err)
	}
}
