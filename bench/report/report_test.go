// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The documents must match the stored results. One that is not there, as in a
// copy of this module alone, is skipped.
func TestDocumentsAreUpToDate(t *testing.T) {
	for _, d := range Documents {
		t.Run(d.Path, func(t *testing.T) {
			families, err := Load(filepath.Join("..", "results"), d.Set)
			if err != nil {
				t.Fatal(err)
			}
			present, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(d.Path)))
			if errors.Is(err, fs.ErrNotExist) {
				t.Skip("not there")
			} else if err != nil {
				t.Fatal(err)
			}
			want, err := d.Render(families, string(present))
			if err != nil {
				t.Fatal(err)
			}
			if want != string(present) {
				t.Error("out of date; run go run ./cmd/table in bench")
			}
		})
	}
}

const sample = `build: default
go: go1.26.8
goos: linux
goarch: amd64
cpu: A & B <fast>
cpus: 2
date: 2026-01-02
rounds: 40
peer: zerolog v1
peer: zap v2

BenchmarkMessage/nib      100  50.0 ns/op   51.0 median-ns/op  0.50 ratio   0.000 mallocs/op  0.0 B/op
BenchmarkMessage/zerolog  90   100.0 ns/op  101.0 median-ns/op 1.00 ratio   0.000 mallocs/op  0.0 B/op
BenchmarkMessage/logrus   9    1234.6 ns/op 1300.0 median-ns/op 12.35 ratio 17.000 mallocs/op 856.0 B/op

BenchmarkEscapes/nib      100  200.0 ns/op  210.0 median-ns/op 0.50 ratio   0.000 mallocs/op  0.0 B/op
BenchmarkEscapes/phuslu   90   150.0 ns/op  151.0 median-ns/op 0.38 ratio   0.000 mallocs/op  0.0 B/op

BenchmarkService/off      9    50000 req/s  20.10 cpu-us/req
BenchmarkService/nib      9    45000 req/s  22.20 cpu-us/req
`

func sampleRun(t *testing.T) *Run {
	t.Helper()
	r, err := Read(strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	return &Run{r}
}

func TestResultsComeBackAsWritten(t *testing.T) {
	want := sampleRun(t).Results
	var text strings.Builder
	if err := want.Write(&text); err != nil {
		t.Fatal(err)
	}
	got, err := Read(strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, text := range []string{
		"no header and no result",
		"BenchmarkX/nib 1 2 ns/op 3",
		"BenchmarkX 1 2 ns/op",
		"BenchmarkX/nib one 2 ns/op",
		"BenchmarkX/nib 1 two ns/op",
		"BenchmarkX/nib 1",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q passes", text)
		}
	}
}

func TestShortTable(t *testing.T) {
	got := Families{{Run: *sampleRun(t)}}.Short()
	for _, want := range []string{
		"| message only | **50** | 100 | – | – | – | 1,235 (17) | 0.50× |\n",
		"Go 1.26.8, linux/amd64, A & B <fast>, 2 CPUs, 2026-01-02. zerolog v1, zap v2, slog",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "10 fields") {
		t.Errorf("a row of a scenario that was not measured in\n%s", got)
	}
}

func TestFullTables(t *testing.T) {
	got := sampleRun(t).Full()
	for _, want := range []string{
		"| text to escape | **200** | – | – | 150\\* | – | – | 0.50× |\n",
		"| message only | **0** | 0 | – | – | – | 17.00, 856 B |\n",
		"| off | 50,000 | 20.1 |\n| **nib** | 45,000 | 22.2 |\n",
		"- phuslu, text to escape: is not JSON",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestFullTablesNameTheFasterPeer(t *testing.T) {
	r, err := Read(strings.NewReader(strings.NewReplacer(" 50.0 ns/op", " 150.0 ns/op", "0.50 ratio", "1.50 ratio").Replace(sample)))
	if err != nil {
		t.Fatal(err)
	}
	want := "Where another library is faster: message only (zerolog, nib takes 1.50 times as long)"
	if got := (&Run{r}).Full(); !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	want = "No other library is faster in any row.\n"
	if got := sampleRun(t).Full(); !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

func TestChartIsWellFormedAndDeterministic(t *testing.T) {
	got := sampleRun(t).Chart()
	if again := sampleRun(t).Chart(); got != again {
		t.Error("two charts of the same results differ")
	}
	d := xml.NewDecoder(strings.NewReader(got))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"A &amp; B &lt;fast&gt;", ">50</text>", "2.0×", "25×", `class="cut"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestChartWithoutResultsIsEmpty(t *testing.T) {
	if got := (&Run{&Results{}}).Chart(); !strings.HasSuffix(got, "</svg>\n") {
		t.Errorf("got %s", got)
	}
}

func TestRenderReplacesTheRegionOnly(t *testing.T) {
	d := Document{Path: "x.md", Content: func(Families) string { return "new\n" }, Region: true}
	for _, test := range []struct{ name, present, want string }{
		{"filled", "a\n<!-- bench:start -->\nold\n<!-- bench:end -->\nb\n", "a\n<!-- bench:start -->\nnew\n<!-- bench:end -->\nb\n"},
		{"empty", "<!-- bench:start --><!-- bench:end -->", "<!-- bench:start -->\nnew\n<!-- bench:end -->"},
		{"no start", "a <!-- bench:end -->", ""},
		{"no end", "a <!-- bench:start -->", ""},
	} {
		got, err := d.Render(nil, test.present)
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%s: got %q, %v, want %q", test.name, got, err, test.want)
		}
	}
}

func TestThousands(t *testing.T) {
	for _, test := range []struct {
		v        float64
		decimals int
		want     string
	}{
		{0, 0, "0"}, {999, 0, "999"}, {1000, 0, "1,000"}, {1234567.8, 1, "1,234,567.8"}, {123456, 0, "123,456"},
	} {
		if got := thousands(test.v, test.decimals); got != test.want {
			t.Errorf("%v: got %s, want %s", test.v, got, test.want)
		}
	}
}
