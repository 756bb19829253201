// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/internal/settings"
	"github.com/nib-log/nib/layout"
	"github.com/nib-log/nib/sink/spool"
	"github.com/nib-log/nib/target"
)

// fakeKind is a kind of another package, as kafka.Kind is.
var fakeKind = target.Spec{
	Forms:  []string{"fake://HOST:PORT,HOST:PORT/TOPIC", "kafka://HOST:PORT,HOST:PORT/TOPIC"},
	Doc:    "for tests",
	Params: func() target.Params { return new(fakeParams) },
}

type fakeParams struct {
	Key     string        `set:"key" default:"none" doc:"a field"`
	Timeout time.Duration `set:"timeout" default:"10s" doc:"a time"`
	Safe    bool          `set:"safe" default:"off" doc:"a switch"`
}

func (p *fakeParams) Validate(target.Target) error { return nil }

func (p *fakeParams) Open(t target.Target) (delivery.Destination, error) {
	return opened.add(t, p), nil
}

// opened are the fakes that were opened, by their hosts.
var opened fakes

type fakes struct {
	mu   sync.Mutex
	list map[string]*fake
}

func (f *fakes) add(t target.Target, p *fakeParams) *fake {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.list == nil {
		f.list = map[string]*fake{}
	}
	d := &fake{to: t, params: *p}
	f.list[t.Host] = d
	return d
}

func (f *fakes) of(host string) *fake {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.list[host]
}

// A fake is the destination of a target.
type fake struct {
	to     target.Target
	params fakeParams

	recordtest.Recorder
}

// Kinds hold for the outputs of all sources, also of those before them.
func TestKindOfAnotherModule(t *testing.T) {
	for name, output := range map[string]string{
		"variable": `fake://one:1,two:2/logs?key=user&timeout=3s&safe=on&spool=` + t.TempDir() + `&spool_size=1MiB&level=warn,discard`,
		"memory":   `fake://one:1,two:2/logs?key=user&timeout=3s&safe=on&spool=memory&level=warn`,
		"JSON":     `{"to":"fake://one:1,two:2/logs","key":"user","timeout":"3s","safe":true,"spool":"` + t.TempDir() + `","level":"warn","on_full":["error:block:1s","drop_old"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			var from ConfigSource = sourceFunc(func(r *reading) Config { return readEnv("NIB_", env{"NIB_OUTPUT": output}.list(), r) })
			if name == "JSON" {
				from = Load(strings.NewReader(`{"output":` + output + `}`))
			}
			l := mustOpen(t, from, Kinds(fakeKind))
			l.Info().Msg("no")
			l.Warn().Msg(name)
			must.Succeed(t, l.Close())
			f := opened.of("one:1,two:2")
			_, err := f.Recorder.Deliver(t.Context(), nil)
			want := fakeParams{"user", 3 * time.Second, true}
			if f.params != want || f.to.Path != "/logs" || err == nil {
				t.Errorf("got %+v and %+v, closed %v", f.params, f.to, err)
			}
			if got := f.Last(); f.Len() != 1 || !strings.Contains(got, `"message":"`+name+`"`) {
				t.Errorf("got %q, want one line", got)
			}
		})
	}
}

func TestFaultsOfDestinations(t *testing.T) {
	for _, tt := range []struct {
		output string
		want   []string // behind NIB_OUTPUT
	}{
		{"kafka://b:9092/logs?spool=/x", []string{`[0]: kafka is a kind of another package: import "github.com/nib-log/nib/dest/kafka" and pass setup.Kinds(kafka.Kind) to setup.Open`}},
		{"fake://b:9092/logs", []string{`[0].spool: is missing: write spool=/var/spool/app, a directory`}},
		{"syslog+tls://logs:6514", []string{`[0].spool: is missing: write spool=`}},
		{"syslog+tcp://logs?spool=memory", []string{`[0]: want syslog+tcp://HOST:PORT: "logs" has no port`}},
		{"tcp://logs:514?spool=memory", []string{`[0]: there is no kind of target "tcp" (did you mean syslog+tcp?)`}},
		{"syslog+tcp://logs:514?spool=memory&tls_name=x", []string{`[0]: nib/syslog: Config.TLS is set`}},
		{"syslog+tcp://logs:514?spool=memory&facility=local9&max_size=1", []string{
			`[0].facility: "local9" is not a facility (want user, mail, `, `[0].max_size: "1" has no unit`}},
		{"fake://b:9092,stdout", []string{`[0]: want fake://HOST:PORT,HOST:PORT/TOPIC, got fake://b:9092`}},
		{"fake://b:9092,c:9092/logs?spol=/x", []string{`[0].spol: there is no such setting (did you mean spool?)`}},
		{"fake://b:0/logs?spool=/x", []string{`[0]: want fake://HOST:PORT,HOST:PORT/TOPIC: "b:0" has no port from 1 to 65535`}},
		{"fake://:9092/logs?spool=/x", []string{`[0]: want fake://HOST:PORT,HOST:PORT/TOPIC: ":9092" has no host`}},
		{"fake://::1:9092/logs?spool=/x", []string{`[0]: want fake://HOST:PORT,HOST:PORT/TOPIC: an IPv6 address needs brackets: [::1]:9092`}},
		{"fake://b:9/x?spool=/x&on_full=wait&on_full=block", []string{`[0].on_full: "wait" is not a rule (want drop_new`, `[0].on_full: "block" is not a rule`}},
		{"fake://b:9/x?spool=/x&on_full=drop_new&on_full=warn:block:1s&on_full=drop_old", []string{
			`[0].on_full: drop_new and drop_old exclude each other: leave one of them out`}},
		{"fake://b:9/x?spool=/x/{hostname}", []string{
			`[0].spool: {hostname} is not replaced: write {host} or {pid}`}},
		{"file:/var/log/{HOST}.log", []string{
			`[0]: {HOST} is not replaced in a path: write {host} or {pid}`}},
		{"otlp+http://c:4318?spool=/x", []string{`[0]: otlp is a kind of another package: import "github.com/nib-log/nib/dest/otlp" and pass setup.Kinds(otlp.Kind) to setup.Open`}},
		{"elastic+https://c:9200/logs?spool=/x", []string{`[0]: elastic is a kind of another package: import "github.com/nib-log/nib/dest/elastic" and pass`}},
		{"fake+tls://b:9/x?spool=/x", []string{`[0]: there is no kind of target "fake+tls" (want stdout, `}},
		{"fake://b:9/x?spool=/x,fake://c:9/x?spool=/x", []string{`[1].spool: NIB_OUTPUT[0] has this directory already`}},
		{"fake://b:9/x?spool=/x,fake://c:9/x?spool=/y/../x/", []string{`[1].spool: NIB_OUTPUT[0] has this directory already`}},
		{"fake://b:9/x?spool=x,fake://c:9/x?spool=./x", []string{`[1].spool: NIB_OUTPUT[0] has this directory already`}},
		{"spool:/x,fake://c:9/x?spool=/x", []string{`[1].spool: NIB_OUTPUT[0] has this directory already`}},
		{"fake://c:9/x?spool=/x,spool:/x/", []string{`[1]: NIB_OUTPUT[0] has this directory already`}},
		{"fake://b:9/x?format=console&spool=/x", []string{`[0].format: there is no such setting`}},
		{"file://var/log/x", []string{`[0]: want file:PATH, got file://var/log/x`}},
		{"fake://me:hunter2@b:9/x?spool=/x", []string{`: a user or password does not belong in a target`}},
		{"fake://me:hun,ter2@b/x", []string{`: a user or password does not belong in a target`}},
		{"fake://b:9/x?Password=hunter2,ter2", []string{`: a user or password does not belong in a target`}},
		{"fake://b:9/x?pasword:hunter2=x&spool=/x", []string{`[0]: want ?NAME=VALUE&NAME=VALUE, with letters`}},
	} {
		t.Run(tt.output, func(t *testing.T) {
			kinds := []target.Spec{{Forms: fakeKind.Forms[:1], Params: fakeKind.Params}}
			_, err := env{"NIB_OUTPUT": tt.output}.readWith(kinds...)
			var want []string
			for _, w := range tt.want {
				want = append(want, "NIB_OUTPUT"+w)
			}
			compare(t, err, want)
			if err != nil && strings.Contains(err.Error(), "ter2") {
				t.Errorf("the password is in %v", err)
			}
		})
	}
}

// Each parameter of an output without a destination reaches its sink.
func TestEveryParameterReachesItsSink(t *testing.T) {
	w, err := readOutput("stderr?buffer=1B&delay=2ns&stall=3ns&level=warn&format=logfmt", nil)
	must.Succeed(t, err)
	if c := w.params.(*stdoutParams).config(w.Target); c.Buffer != 1 || c.Delay != 2 || c.Stall != 3 || c.File != os.Stderr || w.Level != "warn" || w.Format != "logfmt" {
		t.Errorf("got %+v of %+v", c, w)
	}
	if w, err = readOutput("journald?identifier=i&prefix=P&line=L&stall=3ns&socket=s", nil); err != nil {
		t.Fatal(err)
	}
	if c := w.params.(*journaldParams).config(); c.Identifier != "i" || c.Prefix != "P" || c.Line != "L" || c.Stall != 3 || c.Socket != "s" {
		t.Errorf("got %+v", c)
	}
	for _, k := range builtin() {
		list := settings.Of(k.Params(), &leveled{}, &formatted{})
		if k.Forms[0] != "spool:PATH" { // which has no spool in front of it
			list = append(list, settings.Of(&spooled{})...)
		}
		for _, s := range list {
			if s.Doc == "" || s.Default == "" {
				t.Errorf("%s of %v has no documentation or no default", s.Name, k.Forms)
			}
			if n := strings.Count(" "+strings.Join(settings.Names(list), " ")+" ", " "+s.Name+" "); n != 1 {
				t.Errorf("%v has %s %d times", k.Forms, s.Name, n)
			}
		}
	}
	w, err = readOutput("file:x?spool=/s&spool_size=1MB&on_full=error:block:1s&on_full=drop_old&on_full=info:drop_new", nil)
	must.Succeed(t, err)
	c, err := w.spoolConfig()
	want := []spool.FullRule{{From: nib.LevelError, Do: spool.ActionBlock, Wait: time.Second}, {From: nib.LevelTrace, Do: spool.ActionDropOld}, {From: nib.LevelInfo}}
	if err != nil || c.Size != 1e6 || !c.Shared || !slices.Equal(c.OnFull, want) {
		t.Errorf("got %+v, %v", c, err)
	}
}

// A notice has the keys of the other lines, whether they come from the Format
// or from an option. Destinations get the layout, too.
func TestNoticesHaveTheLayoutOfTheProcess(t *testing.T) {
	testNotice(t, "format:1", Config{Format: "ecs"})
	options := []nib.Option{nib.WithLayout(layout.ECS())}
	testNotice(t, "option:1", Config{Options: options})
	testNotice(t, "both:1", Config{Format: "gcp", Options: options})
}

// testNotice fills a spool.
func testNotice(t *testing.T, host string, c Config) {
	c.Output = []string{"fake://" + host + "/logs?spool=memory&spool_size=128KiB"}
	l := mustOpen(t, c, Kinds(fakeKind))
	f := opened.of(host)
	f.FailWith(errors.New("down"))
	for range 500 {
		l.Info().Str("pad", strings.Repeat("x", 1000)).Msg("m")
	}
	f.FailWith(nil)
	if err := l.Flush(context.Background()); err != nil {
		t.Error(err)
	}
	for range 60 { // one of them begins a segment, which begins with the notice
		l.Info().Str("pad", strings.Repeat("x", 1000)).Msg("m")
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if !slices.ContainsFunc(f.Lines(), func(line string) bool {
		return strings.HasPrefix(line, `{"@timestamp":"`) && strings.Contains(line, `"message":"lines lost: the spool dropped them"`)
	}) {
		t.Errorf("%s: got no notice in the layout, and %d lines", host, f.Len())
	}
	to := target.Target{Scheme: toStdout, Layout: f.to.Layout}
	if got := new(stdoutParams).config(to).Layout.TimeKey; got != "@timestamp" {
		t.Errorf("got the time under %q, want @timestamp", got)
	}
}

// A view finds time, level and message by the layout of an option.
func TestViewsHaveTheLayoutOfAnOption(t *testing.T) {
	for _, view := range []string{"console", "logfmt"} {
		o, path := fileOutput(t)
		other := nib.WithLayout(nib.Layout{TimeKey: "t", LevelKey: "lvl", MessageKey: "m"})
		c := Config{Output: []string{o + "?format=" + view}, Options: []nib.Option{other}}
		l := mustOpen(t, c)
		l.Warn().Msg("hello")
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		got := read(t, path)
		if !strings.Contains(got, "hello") || view == "console" && strings.Contains(got, "lvl=") {
			t.Errorf("%s: got %s", view, got)
		}
	}
}

// The notices of standard output look like the lines around them.
func TestNoticesOfStandardOutputHaveItsView(t *testing.T) {
	const line = `{"level":"warn","dropped":3,"message":"lines lost"}` + "\n"
	for text, want := range map[string]string{
		"stdout": "level=warn dropped=3 message=\"lines lost\"\n", "stdout?format=json": line, "stderr?format=logfmt": "level=warn dropped=3 message=\"lines lost\"\n",
		"stdout?format=console": "WARN  lines lost ",
	} {
		w, err := readOutput(text, nil)
		must.Succeed(t, err)
		o, err := openOutput(&Config{Format: "logfmt"}, w)
		must.Succeed(t, err)
		got := line
		if view := w.params.(*stdoutParams).config(w.Target).View; view != nil {
			got = string(view(nil, []byte(line)))
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
		closeUnused([]*output{o})
	}
}

// Flush of the logger reaches a sink behind a view, and behind a level.
func TestFlushReachesTheSinkBehindAView(t *testing.T) {
	for _, params := range []string{"", "&format=json", "&format=console", "&format=logfmt", "&format=logfmt&level=info"} {
		o, path := fileOutput(t)
		l := mustOpen(t, Config{Output: []string{o + "?buffer=1MiB&delay=1h" + params}})
		l.Info().Msg("held back")
		if got := read(t, path); got != "" {
			t.Errorf("%q: got %q before Flush", params, got)
		}
		if err := l.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		if got := read(t, path); !strings.Contains(got, "held back") {
			t.Errorf("%q: got %q after Flush", params, got)
		}
	}
}

// A spool that another process delivers has lines of JSON, since its
// destination is not known here. It is also where the monitor puts the line of
// a crash that a network gets.
func TestSpoolOfAnotherProcessHasJSON(t *testing.T) {
	for _, format := range []string{"console", "logfmt", "json"} {
		dir := filepath.Join(t.TempDir(), "spool")
		l := mustOpen(t, Config{Format: format, Output: []string{"spool:" + dir}})
		l.Info().Msg("kept")
		must.Succeed(t, l.Close())
		o, path := fileOutput(t)
		d := mustOpen(t, Config{Output: []string{o + "?spool=" + dir}})
		await.Until(t, "the line is delivered", func() bool { return read(t, path) != "" })
		if got := read(t, path); !strings.HasPrefix(got, "{") {
			t.Errorf("%s: got %q, want JSON", format, got)
		}
		must.Succeed(t, d.Close())
	}
}
