// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/metrics"
)

func label(name, value string) metrics.Label { return metrics.Label{Name: name, Value: value} }

func text(
	t *testing.T, write func(...metrics.Source) (string, error), sources ...metrics.Source,
) string {
	t.Helper()
	got, err := write(sources...)
	must.Succeed(t, err)
	return got
}

func prometheus(sources ...metrics.Source) (string, error) {
	var b strings.Builder
	err := metrics.WritePrometheus(&b, sources...)
	return b.String(), err
}

func openMetrics(sources ...metrics.Source) (string, error) {
	var b strings.Builder
	err := metrics.WriteOpenMetrics(&b, sources...)
	return b.String(), err
}

// samples are metrics with everything that has to be escaped, in two sources.
func samples() []metrics.Source {
	var first, second metrics.Samples
	first.Counter("x_lines_total", "Lines.\nA \\ and a \"quote\".", 1,
		label("level", "info"), label("branch", "0"))
	first.Gauge("x_age_seconds", "Age.", 1.5)
	first.Counter("x_lines_total", "not shown", 2, label("level", "warn"), label("branch", "0"))
	// The series of the first.
	second.Counter("x_lines_total", "", 3, label("branch", "0"), label("level", "info"))
	second.Counter("x_lines_total", "", 4, label("level", "a\\b\"c\nd\xff"))
	second.Counter("x_bytes", "A counter without its suffix.", 1<<52)
	second.Gauge("9 lives_total", "Odd.", math.Inf(1), label("0-k:", "v"))
	return []metrics.Source{first, nil, second}
}

func TestPrometheusText(t *testing.T) {
	want := `# HELP _9_lives Odd.
# TYPE _9_lives gauge
_9_lives{_0_k_="v"} +Inf
# HELP x_age_seconds Age.
# TYPE x_age_seconds gauge
x_age_seconds 1.5
# HELP x_bytes_total A counter without its suffix.
# TYPE x_bytes_total counter
x_bytes_total 4503599627370496
# HELP x_lines_total Lines.\nA \\ and a "quote".
# TYPE x_lines_total counter
x_lines_total{branch="0",level="info"} 4
x_lines_total{branch="0",level="warn"} 2
x_lines_total{level="a\\b\"c\nd` + "\uFFFD" + `"} 4
`
	if got := text(t, prometheus, samples()...); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestOpenMetricsText(t *testing.T) {
	want := `# HELP x_age_seconds Age.
# TYPE x_age_seconds gauge
# UNIT x_age_seconds seconds
x_age_seconds 1.5
# HELP x_lines A \"quote\".
# TYPE x_lines counter
x_lines_total 1
# EOF
`
	var l metrics.Samples
	l.Counter("x_lines_total", `A "quote".`, 1)
	l.Gauge("x_age_seconds", "Age.", 1.5)
	if got := text(t, openMetrics, l); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// In OpenMetrics no two families have one name.
func TestGaugeBesideACounterOfItsName(t *testing.T) {
	var l metrics.Samples
	l.Counter("jobs_total", "Jobs.", 1)
	l.Gauge("jobs", "Jobs now.", 2)
	l.Gauge("jobs_now", "Jobs, too.", 3)
	got := text(t, openMetrics, l)
	families := map[string]bool{}
	for line := range strings.Lines(got) {
		if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, _, _ = strings.Cut(name, " ")
			if families[name] {
				t.Errorf("the family %s is there twice:\n%s", name, got)
			}
			families[name] = true
		}
	}
	for _, want := range []string{"\njobs_total 1\n", "\njobs_now 3\n", "\njobs_now_now 2\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if got := text(t, prometheus, l); !strings.Contains(got, "\njobs 2\n") {
		t.Errorf("got\n%s", got)
	}
}

// A name may consist of the suffix of a counter, or have it twice.
func TestNamesThatAreSuffixes(t *testing.T) {
	var l metrics.Samples
	l.Counter("_total", "A counter.", 1)
	l.Gauge("_total", "A gauge.", 2)
	want := "# HELP _ A gauge.\n# TYPE _ gauge\n_ 2\n" +
		"# HELP __total A counter.\n# TYPE __total counter\n__total 1\n"
	if got := text(t, prometheus, l); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	l = nil
	l.Gauge("x_total_total", "X.", 1)
	want = "# HELP x X.\n# TYPE x gauge\nx 1\n# EOF\n"
	if got := text(t, openMetrics, l); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Letters, digits, _ and : are characters of a name, a digit not of its
// beginning. The label has no colon.
func TestCharactersOfNames(t *testing.T) {
	const letters, digits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	for c := range rune(256) {
		name, key := "x_", "x_"
		if strings.ContainsRune(letters+digits+"_:", c) {
			name = "x" + string(c)
		}
		if strings.ContainsRune(letters+digits+"_", c) {
			key = "x" + string(c)
		}
		first := string(c)
		switch {
		case strings.ContainsRune(digits, c):
			first = "_" + first
		case name == "x_":
			first = "_"
		}
		var l metrics.Samples
		l.Gauge("x"+string(c), "X.", 1, label("x"+string(c), "v"))
		want := "\n" + name + "{" + key + `="v"} 1` + "\n"
		if got := text(t, prometheus, l); !strings.HasSuffix(got, want) {
			t.Errorf("%q: got %s, want %s", c, got, want)
		}
		l = nil
		l.Gauge(string(c), "X.", 1)
		if got := text(t, prometheus, l); !strings.HasSuffix(got, "\n"+first+" 1\n") {
			t.Errorf("%q at the beginning: got %s, want %s", c, got, first)
		}
	}
}

func TestNumbersAreExact(t *testing.T) {
	for value, want := range map[float64]string{
		0: "0", -3: "-3", 1<<53 - 1: "9007199254740991",
		1 << 53: "9.007199254740992e+15", -1 << 53: "-9.007199254740992e+15",
		1e300: "1e+300", 0.1: "0.1",
		math.Inf(-1): "-Inf", math.MaxUint64: "1.8446744073709552e+19",
	} {
		var l metrics.Samples
		l.Gauge("x", "X.", value)
		if got := text(t, prometheus, l); !strings.HasSuffix(got, "\nx "+want+"\n") {
			t.Errorf("%v: got %s, want %s", value, got, want)
		}
	}
	var l metrics.Samples
	l.Gauge("x", "X.", math.NaN())
	if got := text(t, prometheus, l); !strings.HasSuffix(got, "\nx NaN\n") {
		t.Errorf("got %s, want NaN", got)
	}
}

func TestPanicOfASourceLeavesTheOthers(t *testing.T) {
	var l metrics.Samples
	l.Gauge("x", "X.", 1)
	for name, faulty := range map[string]metrics.Source{
		"Metrics":  sourceFunc(func() iter.Seq[metrics.Metric] { panic("faulty") }),
		"nil func": sourceFunc(nil),
		"yield": sourceFunc(func() iter.Seq[metrics.Metric] {
			return func(yield func(metrics.Metric) bool) {
				yield(metrics.Metric{Name: "y"})
				panic(errors.New("faulty"))
			}
		}),
	} {
		got, err := prometheus(faulty, l)
		if err == nil || !strings.Contains(got, "\nx 1\n") ||
			name != "nil func" && !strings.Contains(err.Error(), "panicked: faulty") {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestErrorOfTheWriter(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	must.Succeed(t, err)
	_ = f.Close()
	var l metrics.Samples
	l.Gauge("x", "X.", 1)
	if err := metrics.WritePrometheus(f, l); !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v, want that the file is closed", err)
	}
}

// Prometheus ignores an empty label.
func TestEmptyLabelsMakeNoOtherSeries(t *testing.T) {
	var l metrics.Samples
	l.Gauge("x", "X.", 1)
	l.Gauge("x", "X.", 2, label("a", ""))
	l.Gauge("x", "X.", 4, label("a", ""), label("b", "1"))
	l.Gauge("x", "X.", 8, label("b", "1"))
	if got := text(t, prometheus, l); !strings.HasSuffix(got, "\nx 3\nx{b=\"1\"} 12\n") {
		t.Errorf("got %s, want two series of 3 and 12", got)
	}
}

func TestWithLabelsKeepsLabels(t *testing.T) {
	var l metrics.Samples
	l.Gauge("x", "X.", 1, label("a", "own"))
	l.Gauge("x", "X.", 2)
	named := metrics.WithLabels(l, label("a", "added"), label("b", "added"))
	got := text(t, prometheus, named)
	if !strings.Contains(got, `x{a="added",b="added"} 2`) ||
		!strings.Contains(got, `x{a="own",b="added"} 1`) {
		t.Errorf("got %s", got)
	}
	// A loop may be left at any time.
	for m := range named.Metrics() {
		if m.Value != 1 || len(l[0].Labels) != 1 {
			t.Errorf("got %+v first, and %+v in the list", m, l[0])
		}
		break
	}
}

func TestOfAValueThatIsNoSource(t *testing.T) {
	if got := slices.Collect(metrics.Of(3).Metrics()); len(got) > 0 {
		t.Errorf("got %+v, want none", got)
	}
}

func TestVarsAreJSON(t *testing.T) {
	var odd metrics.Samples
	odd.Gauge("x_inf", "No number of JSON.", math.Inf(1))
	faulty := sourceFunc(nil)
	got, err := json.Marshal(metrics.Vars(samples()[0], odd, nil, faulty)())
	want := `{"x_age_seconds":1.5,"x_inf":"+Inf",` +
		`"x_lines_total{branch=\"0\",level=\"info\"}":1,` +
		`"x_lines_total{branch=\"0\",level=\"warn\"}":2}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

// FuzzText checks that the text has the form that the formats require, whatever
// a source yields.
func FuzzText(f *testing.F) {
	f.Add("x_total", "help", "k", "v", 1.0)
	f.Add("", "\n", "", "\"\\\n\r\x00", math.NaN())
	f.Add("é", "\\", "1", "\xff", math.Copysign(0, -1))
	f.Add("_total", "help", "k", "v", 1.0)
	f.Fuzz(func(t *testing.T, name, help, key, value string, v float64) {
		var l metrics.Samples
		l.Counter(name, help, v, label(key, value), label(key+"x", value))
		l.Counter(name, help, v, label(key+"x", value), label(key, value))
		l.Gauge(name+"x", help, v, label(key, value), label(key, value))
		l.Gauge(name+"_total", help, v, label(key, value))
		wantExposition(t, text(t, prometheus, l))
		open := text(t, openMetrics, l)
		if !strings.HasSuffix(open, "\n# EOF\n") || strings.Count(open, "\n") < 4 {
			t.Errorf("got %q", open)
		}
	})
}

var expositionLine = regexp.MustCompile(
	`^(# HELP [a-zA-Z_:][a-zA-Z0-9_:]* ([^\\]|\\\\|\\n)*|` +
		`# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge)|` +
		`([a-zA-Z_:][a-zA-Z0-9_:]*)(\{([a-zA-Z_][a-zA-Z0-9_]*="([^\\"]|\\\\|\\"|\\n)*",?)*\})? ` +
		`(NaN|[+-]Inf|[0-9.e+-]+))$`)

// wantExposition checks text against the grammar of the text format 0.0.4: each
// family has one TYPE, its samples follow it together, and no two of them have
// the same labels.
func wantExposition(t *testing.T, text string) {
	t.Helper()
	seen := map[string]bool{}
	family := ""
	for in := bufio.NewScanner(strings.NewReader(text)); in.Scan(); {
		line := in.Text()
		m := expositionLine.FindStringSubmatch(line)
		switch {
		case m == nil:
			t.Errorf("not a line of the format: %q", line)
		case m[3] != "":
			if family = m[3]; seen[family] {
				t.Errorf("two families %s", family)
			}
			seen[family] = true
		case m[5] != "":
			sample := line[:strings.LastIndexByte(line, ' ')]
			if m[5] != family || seen["sample "+sample] {
				t.Errorf("the sample %s is in the family %s, or there twice", sample, family)
			}
			seen["sample "+sample] = true
		}
	}
	if !strings.HasSuffix(text, "\n") || len(seen) == 0 {
		t.Errorf("the text does not end in a newline: %q", text)
	}
}

func ExampleWritePrometheus() {
	var app metrics.Samples
	app.Counter("app_lines_total", "Lines of the application.", 3,
		metrics.Label{Name: "level", Value: "info"})
	if err := metrics.WritePrometheus(os.Stdout, app); err != nil {
		panic(err)
	}
	// Output:
	// # HELP app_lines_total Lines of the application.
	// # TYPE app_lines_total counter
	// app_lines_total{level="info"} 3
}

func ExampleSamples() {
	queue := sourceFunc(func() iter.Seq[metrics.Metric] {
		var l metrics.Samples
		l.Gauge("app_queue_bytes", "Memory of the queue.", 4096)
		return l.Metrics()
	})
	for m := range queue.Metrics() {
		fmt.Println(m.Name, m.Kind == metrics.KindGauge, m.Unit, m.Value)
	}
	// Output: app_queue_bytes true bytes 4096
}

func ExampleWithLabels() {
	var pool metrics.Samples
	pool.Gauge("nib_pool_idle_values", "Idle values.", 2)
	named := metrics.WithLabels(pool, metrics.Label{Name: "pool", Value: "buffers"})
	all := slices.Collect(named.Metrics())
	fmt.Println(all[0].Name, all[0].Labels)
	// Output: nib_pool_idle_values [{pool buffers}]
}

// sourceFunc makes a Source of a function.
type sourceFunc func() iter.Seq[metrics.Metric]

func (f sourceFunc) Metrics() iter.Seq[metrics.Metric] { return f() }
