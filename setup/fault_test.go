// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"reflect"
	"strings"
	"testing"

	"github.com/nib-log/nib"
)

// TestFaultsOfTheEnvironment expects all faults at once, each with its place.
func TestFaultsOfTheEnvironment(t *testing.T) {
	_, err := env{
		"NIB_LEVEL":   "inof,db=debgu",
		"NIB_FORMAT":  "xml",
		"NIB_CALLER":  "yes",
		"NIB_STACK":   "loud",
		"NIB_TIMEOUT": "-5s",
		"NIB_FIELDS":  "service",
		"NIB_CONFIG":  "/nowhere/log.json",
		"NIB_OUTPUT":  "stdout?bufer=1&buffer=many,,file?backups=-1,fiel:x,journald?max_size=1MB,file:x?delay=5ms,stderr?level=inof&format=ecs&level=info,file:%zz,file:x?spool_size=64MiB,file:x?spool=y&spool_size=-1MB&buffer=1kB,stdout?spool=y,file:x?spool=y&buffer=1kB",
	}.read()
	compare(t, err, []string{
		`NIB_CONFIG: open /nowhere/log.json: `,
		`NIB_LEVEL: nib: rule "inof": `,
		`NIB_LEVEL: nib: rule "db=debgu": `,
		`NIB_FORMAT: "xml" is not a format (want json, console, logfmt, ecs, gcp, datadog, otel, zap, zerolog, slog or logrus)`,
		`NIB_OUTPUT[0].bufer: there is no such setting (did you mean buffer?) (want buffer, delay, stall, level, format)`,
		`NIB_OUTPUT[0].buffer: "many" is not a size (want a number with a unit: 100MB (1000²), 64KiB (1024), 512B)`,
		`NIB_OUTPUT[1]: "" is not a target (want a scheme such as stdout or file:PATH)`,
		`NIB_OUTPUT[2].backups: "-1" is not a count (want a whole number, at most 2147483647)`,
		`NIB_OUTPUT[2]: want file:PATH, got file`,
		`NIB_OUTPUT[3]: there is no kind of target "fiel" (did you mean file?) (want stdout, stderr, journald, discard, spool:PATH, file:PATH, syslog+tcp://HOST:PORT, `,
		`NIB_OUTPUT[4].max_size: there is no such setting (want identifier, `,
		`NIB_OUTPUT[5]: nib/file: Delay of 5ms without Buffer`,
		`NIB_OUTPUT[6].level: "inof" is not a level (want trace, debug, info, warn, error, panic or fatal, as in "info+2")`,
		`NIB_OUTPUT[6].format: "ecs" is not a format (want json, console or logfmt)`,
		`NIB_OUTPUT[6].level: is set twice`,
		`NIB_OUTPUT[7]: path: invalid URL escape "%zz" (a % is written %25)`,
		`NIB_OUTPUT[8].spool_size: there is no spool`,
		`NIB_OUTPUT[9].spool_size: "-1MB" is not a size (want `,
		`NIB_OUTPUT[10].spool: there is no such setting (want buffer, `,
		`NIB_OUTPUT[11].buffer: the spool holds the lines already`,
		`NIB_FIELDS: "service" is not a list of fields (want keys and texts: service=shop,region=eu)`,
		`NIB_CALLER: "yes" is not a switch (want on or off, true or false, 1 or 0)`,
		`NIB_STACK: "loud" is not a level (want `,
		`NIB_TIMEOUT: "-5s" is not a duration (want a number with a unit: 100ms, 5s, 1h30m, 7d)`,
	})
}

// A list of levels has no two rules for the same names.
func TestLevelsThatExcludeEachOther(t *testing.T) {
	for text, want := range map[string]string{
		"debug,info":                "NIB_LEVEL: debug and info exclude each other: leave one of them out",
		"warn,db=debug,x=info,db=1": "NIB_LEVEL: ",
		"db=debug, db = info":       "NIB_LEVEL: db=debug and db=info exclude each other: leave one of them out",
		"http.*=error,http.*=warn":  "NIB_LEVEL: http.*=error and http.*=warn exclude each other: leave one of them out",
		"http=error,http.*=warn":    "",
		"info,INFO,db=info":         "",
		"*=info,debug":              "NIB_LEVEL: info and debug exclude each other: leave one of them out",
	} {
		_, err := env{"NIB_LEVEL": text}.read()
		if want == "" {
			if err != nil {
				t.Errorf("%s: got %v", text, err)
			}
			continue
		}
		compare(t, err, []string{want})
	}
}

// compare expects one error for each want, its beginning after "nib/setup: ".
func compare(t *testing.T, err error, want []string) {
	t.Helper()
	var got []string
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			got = append(got, err.Error())
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d faults, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
		return
	}
	for i := range got {
		if !strings.HasPrefix(got[i], "nib/setup: "+want[i]) {
			t.Errorf("fault %d:\n got %s\nwant nib/setup: %s…", i, got[i], want[i])
		}
	}
}

func TestFaultsOfJSON(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"many", `{"levle":"info","level":"inof","level":"info","caller":{},"timeout":5,"fields":{"":"x","a":[1],"b":"1","b":"2"},
			"output":["stdout?x=1",7,{"to":"file","path":"x","colour":1,"path":"y","backups":"many","at":["00:00","25:00"],"mode":"0777777"},{"path":"x"},{"to":"stdout","path":"x"},["stdout"]]}`,
			[]string{
				`levle: there is no such setting (did you mean level?) (want level, format, `,
				`level: nib: rule "inof"`,
				`level: is set twice`,
				`caller: want a text, a number, true or false, not an object or a list`,
				`timeout: "5" is not a duration`,
				`fields.: is set twice, or has no name`,
				`fields.a: want a text, a number, true or false, not an object or a list`,
				`fields.b: is set twice, or has no name`,
				`output[2].path: is set twice`,
				`output[3].to: is missing (want a kind of output`,
				`output[5]: want a text, a number, true or false, not an object or a list`,
				`output[0].x: there is no such setting`,
				`output[1]: "7" is not a target`,
				`output[2].colour: there is no such setting (want max_size, `,
				`output[2].backups: "many" is not a count`,
				`output[2].at: "25:00" is not a time of day`,
				`output[2].mode: "0777777" is not a file mode`,
				`output[4]: want stdout, got stdout:x`,
			}},
		{"not an object", `["level"]`, []string{"JSON: is not an object"}},
		{"nothing", ``, []string{"JSON: is not JSON"}},
		{"no end", `{"level":"inof","format":`, []string{"level: nib: rule", "JSON: is not JSON"}},
		{"too much", `{} {}`, []string{"JSON: there is more data after the object"}},
		{"wrong escape", `{"level":"\x"}`, []string{"JSON: is not JSON"}},
		{"trailing comma", `{"level":"info",}`, []string{"JSON: is not JSON"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read(Load(strings.NewReader(tt.text)))
			compare(t, err, tt.want)
		})
	}
}

func TestFaultsOfAConfig(t *testing.T) {
	err := Config{
		Level: "inof", Format: "xml", Caller: 7, Stack: "loud", Timeout: -1, Fields: map[string]string{"": "x"},
		Output: []string{
			"", "fiel", "stdout:x?identifier=y",
			"file:x?mode=077&max_size=-1B&backups=-1&at=x&zone=Nowhere&compress=zip&sync=often",
			"file:x?max_size=10B&max_total=5B&delay=1s", "stdout,stderr",
		},
		Sinks: []nib.Sink{nil},
	}.Validate()
	compare(t, err, []string{
		`Config.Level: nib: rule "inof"`,
		`Config.Format: "xml" is not a format`,
		`Config.Output[0]: "" is not a target`,
		`Config.Output[1]: there is no kind of target "fiel"`,
		`Config.Output[2].identifier: there is no such setting`,
		`Config.Output[2]: want stdout, got stdout:x`,
		`Config.Output[3].mode: "077" is not a file mode`,
		`Config.Output[3].max_size: "-1B" is not a size`,
		`Config.Output[3].backups: "-1" is not a count`,
		`Config.Output[3].at: "x" is not a time of day`,
		`Config.Output[3].zone: "Nowhere" is not a known time zone`,
		`Config.Output[3].compress: "zip" is not a compress (want gzip or none)`,
		`Config.Output[3].sync: "often" is not a sync (want never, flush or always)`,
		`Config.Output[4]: nib/file: MaxTotal of 5 is less than MaxSize, 10`,
		`Config.Output[4]: nib/file: Delay of 1s without Buffer`,
		`Config.Output[5]: "stdout,stderr" is not a target`,
		`Config.Fields: "=x" is not a list of fields`,
		`Config.Caller: "7 as a Switch" is not a switch`,
		`Config.Stack: "loud" is not a level`,
		`Config.Timeout: "-1ns" is not a duration`,
		`Config.Sinks[0]: nil is not a sink`,
	})
}

func TestFaultsOfAllSourcesAtOnce(t *testing.T) {
	t.Setenv("NIBTEST_LEVEL", "inof")
	_, err := Open(Load(strings.NewReader(`{"format":"xml"}`)), FromEnv("NIBTEST"), Config{Stack: "loud"})
	if got, want := places(err), []string{"format", "NIBTEST_LEVEL", "Config.Stack"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got faults at %q, want %q", got, want)
	}
}

func TestFaultsDoNotRepeatHugeTexts(t *testing.T) {
	_, err := env{"NIB_FORMAT": strings.Repeat("x", 1<<20), "NIB_OUTPUT": strings.Repeat("y", 1<<20)}.read()
	if len(err.Error()) > 1000 {
		t.Errorf("got %d bytes", len(err.Error()))
	}
}
