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
)

// env is an environment.
type env map[string]string

func (e env) list() (list []string) {
	for name, value := range e {
		list = append(list, name+"="+value)
	}
	return list
}

func (e env) read() (Config, error) {
	var found faults
	c := readEnv("NIB_", e.list(), &found)
	return c, found.err()
}

func TestEnvironment(t *testing.T) {
	for _, tt := range []struct {
		name string
		env  env
		want Config
	}{
		{"nothing", env{}, Config{}},
		{"empty", env{"NIB_LEVEL": "", "NIB_OUTPUT": ""}, Config{}},
		{"others' names", env{"NIB_PORT": "tcp://10.0.0.1:80", "NIB_COLOR": "x", "LEVEL": "x"}, Config{}},
		{"level", env{"NIB_LEVEL": "warn"}, Config{Level: "warn"}},
		{"levels", env{"NIB_LEVEL": "warn,db=debug,http.*=error"}, Config{Level: "warn,db=debug,http.*=error"}},
		{"format", env{"NIB_FORMAT": "ECS"}, Config{Format: "ecs"}},
		{"switches", env{"NIB_CALLER": "on", "NIB_SIGNALS": "OFF", "NIB_REOPEN": "0", "NIB_CRASH": "true", "NIB_DEFAULT": "1"},
			Config{Caller: SwitchOn, Signals: SwitchOff, Reopen: SwitchOff, Crash: SwitchOn, Default: SwitchOn}},
		{"stack", env{"NIB_STACK": "error", "NIB_TIMEOUT": "1m30s"}, Config{Stack: "error", Timeout: 90 * time.Second}},
		{"fields", env{"NIB_FIELDS": "service=shop,note=a%2Cb%3Dc,none="}, Config{Fields: map[string]string{"service": "shop", "note": "a,b=c", "none": ""}}},
		{"output", env{"NIB_OUTPUT": "stderr"}, Config{Output: []Output{{To: "stderr"}}}},
		{"outputs", env{"NIB_OUTPUT": "stdout?buffer=64KiB&delay=2ms&stall=1s&format=console&level=info+2,discard,journald?identifier=shop&prefix=SHOP_&line=JSON&socket=/run/j"},
			Config{Output: []Output{
				{To: "stdout", Buffer: 64 << 10, Delay: 2 * time.Millisecond, Stall: time.Second, Format: "console", Level: "info+2"},
				{To: "discard"},
				{To: "journald", Identifier: "shop", Prefix: "SHOP_", Line: "JSON", Socket: "/run/j"},
			}}},
		{"file", env{"NIB_OUTPUT": "file:/var/log/a%2Cb?max_size=100MB&every=24h&at=00:00&at=12:30&zone=UTC&backups=5&max_age=7d&max_total=2GiB&compress=gzip&mode=0640&min_free=1kb&sync=flush"},
			Config{Output: []Output{{
				To: "file", Path: "/var/log/a,b", MaxSize: 100e6, Every: 24 * time.Hour, At: []string{"00:00", "12:30"}, Zone: "UTC",
				Backups: 5, MaxAge: 7 * 24 * time.Hour, MaxTotal: 2 << 30, Compress: "gzip", Mode: 0o640, MinFree: 1000, Sync: "flush",
			}}}},
		{"spool", env{"NIB_OUTPUT": "file:a.log?spool=/var/spool/a&spool_size=64MiB"}, Config{Output: []Output{{To: "file", Path: "a.log", Spool: "/var/spool/a", SpoolSize: 64 << 20}}}},
		{"path as an option", env{"NIB_OUTPUT": `file?path=C:\logs\app.log,file:C:\b.log`}, Config{Output: []Output{{To: "file", Path: `C:\logs\app.log`}, {To: "file", Path: `C:\b.log`}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.env.read()
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, tt.want)
			}
			if err := got.Validate(); err != nil {
				t.Errorf("what was read is not valid: %v", err)
			}
			outputs := []string{}
			for _, o := range got.Output {
				outputs = append(outputs, o.String())
			}
			if again, err := ParseOutputs(strings.Join(outputs, ",")); len(outputs) > 0 && (err != nil || !reflect.DeepEqual(again, got.Output)) {
				t.Errorf("String gives %q, which is read as\n     %+v, %v\nwant %+v", outputs, again, err, got.Output)
			}
		})
	}
}

func TestPrefix(t *testing.T) {
	t.Setenv("SHOP_LEVEL", "error")
	t.Setenv("NIB_LEVEL", "debug")
	for prefix, want := range map[string]string{"SHOP": "error", "NIB": "debug", "": "debug", "ELSE": ""} {
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
		{"output as text", `{"output":"stdout,stderr?level=warn"}`, Config{Output: []Output{{To: "stdout"}, {To: "stderr", Level: "warn"}}}},
		{"output as object", `{"output":{"to":"file","path":"a,b?c%d","max_size":"1000B","backups":3,"at":["00:00","06:00"],"mode":"0600"}}`,
			Config{Output: []Output{{To: "file", Path: "a,b?c%d", MaxSize: 1000, Backups: 3, At: []string{"00:00", "06:00"}, Mode: 0o600}}}},
		{"outputs", `{"output":["stdout?buffer=1KiB",{"to":"file","path":"x","at":"00:00"}]}`,
			Config{Output: []Output{{To: "stdout", Buffer: 1024}, {To: "file", Path: "x", At: []string{"00:00"}}}}},
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
	if err != nil {
		t.Fatal(err)
	}
	var again Config
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again, c) {
		t.Errorf("%s is read as\n     %+v, %v\nwant %+v", text, again, err, c)
	}
}

func TestConfigAsPartOfALargerStruct(t *testing.T) {
	var app struct {
		Port int
		Log  Config
		Out  Output
	}
	text := `{"port":80,"log":{"level":"debug","output":["stderr"]},"out":"file:/x"}`
	if err := json.Unmarshal([]byte(text), &app); err != nil || app.Log.Level != "debug" || app.Log.Output[0].To != "stderr" || app.Out.Path != "/x" {
		t.Errorf("got %+v, %v", app, err)
	}
	err := json.Unmarshal([]byte(`{"log":{"level":"inof","colour":1}}`), &app)
	if want := []string{"level", "colour"}; !reflect.DeepEqual(places(err), want) {
		t.Errorf("got faults at %q, want %q", places(err), want)
	}
}

// places are where the faults of an error are.
func places(err error) (list []string) {
	var one *Fault
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			list = append(list, places(err)...)
		}
	} else if errors.As(err, &one) {
		list = append(list, one.Where)
	}
	return list
}

func TestLaterSourcesWin(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log.json")
	file := `{"level":"error","format":"ecs","caller":true,"crash":true,"timeout":"1s","output":["stderr","discard"],"fields":{"a":"file","b":"file","c":"file"}}`
	if err := os.WriteFile(name, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	over := env{"NIB_CONFIG": name, "NIB_LEVEL": "warn", "NIB_CRASH": "off", "NIB_OUTPUT": "stdout", "NIB_FIELDS": "b=env,c=env"}
	fromEnv := sourceFunc(func(found *faults) Config { return readEnv("NIB_", over.list(), found) })
	code := Config{Level: "debug", Fields: map[string]string{"c": "code"}, Options: []nib.Option{nib.WithCaller()}}
	got, err := Read(fromEnv, nil, code, Config{Options: []nib.Option{nib.WithCaller()}})
	if err != nil || len(got.Options) != 2 {
		t.Fatalf("got %d options, %v, want 2", len(got.Options), err)
	}
	got.Options = nil
	want := Config{
		Level: "debug", Format: "ecs", Caller: SwitchOn, Crash: SwitchOff, Timeout: time.Second, Output: []Output{{To: "stdout"}},
		Fields: map[string]string{"a": "file", "b": "env", "c": "code"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if len(code.Fields) != 1 {
		t.Error("merging has changed the map of a source")
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": -1, "1B": 1, "10b": 10, "1kB": 1e3, "2MB": 2e6, "3gb": 3e9, "4TB": 4e12, "64KiB": 64 << 10, "1mib": 1 << 20, "1 GiB": 1 << 30, "8388607TiB": 8388607 << 40,
		"": -1, "MB": -1, "-1": -1, "+1": -1, "1.5MB": -1, "1 M B": -1, "8388608TiB": -1, "1e3": -1, "0x10": -1, "99999999999999999999": -1, "1kbb": -1,
	} {
		var b Bytes
		ok := setSize(reflect.ValueOf(&b).Elem(), text)
		if ok != (want >= 0) || ok && int64(b) != want {
			t.Errorf("%q: got %d, %v, want %d", text, b, ok, want)
		}
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"5s": 5 * time.Second, "7d": 7 * 24 * time.Hour, "1h30m": 90 * time.Minute, "0": 0, "106751d": 106751 * 24 * time.Hour,
		"": -1, "5": -1, "-5s": -1, "d": -1, "-1d": -1, "1.5d": -1, "1d12h": -1, "106752d": -1, "s": -1,
	} {
		var d time.Duration
		ok := setDuration(reflect.ValueOf(&d).Elem(), text)
		if ok != (want >= 0) || ok && d != want {
			t.Errorf("%q: got %v, %v, want %v", text, d, ok, want)
		}
	}
}

// TestEverySettingHasAKind finds tags that are not known.
func TestEverySettingHasAKind(t *testing.T) {
	for _, s := range append(configSettings(), outputSettings()...) {
		if s.kind.name == "" || s.name == "" || !s.isOutputs() && s.kind.want == "" {
			t.Errorf("%s: %+v", s.field, s)
		}
	}
}

// TestEverySettingReachesItsSink sets each setting of an output to something that
// is not the default, and expects it in the configuration of the sink.
func TestEverySettingReachesItsSink(t *testing.T) {
	file := Output{
		To: "file", Path: "x", Buffer: 1, Delay: 2, MaxSize: 3, Every: 4, At: []string{"00:05"}, Zone: "UTC",
		Backups: 6, MaxAge: 7, MaxTotal: 8, Compress: "gzip", Mode: 0o611, MinFree: 10, Sync: "always",
	}
	c := file.file()
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && f.Name != "OnError" && v.Field(i).IsZero() {
			t.Errorf("file.Config.%s is not set", f.Name)
		}
	}
	if c.Buffer != 1 || c.Delay != 2 || c.MaxSize != 3 || c.Every != 4 || c.MaxBackups != 6 || c.MaxAge != 7 || c.MaxTotal != 8 || c.MinFree != 10 {
		t.Errorf("got %+v", c)
	}
	if o := (&Output{Buffer: 1, Delay: 2, Stall: 3}); o.stdout().Buffer != 1 || o.stdout().Delay != 2 || o.stdout().Stall != 3 {
		t.Errorf("got %+v", o.stdout())
	}
	j := (&Output{Identifier: "i", Prefix: "P", Line: "L", Stall: 3, Socket: "s"}).journald()
	if j.Identifier != "i" || j.Prefix != "P" || j.Line != "L" || j.Stall != 3 || j.Socket != "s" {
		t.Errorf("got %+v", j)
	}
}

func TestLoadSaysWhichFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log.json")
	if err := os.WriteFile(name, []byte(`{"level":"inof"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
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
