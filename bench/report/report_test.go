// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The documents must match the stored results, and so test the tables. A
// missing document, as in a copy of this module alone, is skipped.
func TestDocumentsAreUpToDate(t *testing.T) {
	for _, d := range Documents() {
		results, err := Load("../results", d.Set)
		if err != nil {
			t.Fatal(err)
		}
		present, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(d.Path)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		if want, err := d.Render(results[0], string(present)); err != nil ||
			want != string(present) {
			t.Errorf("%s is out of date (%v); run go run ./cmd/table in bench", d.Path, err)
		}
	}
}

func TestResultsComeBackAsWritten(t *testing.T) {
	want := &Results{Header: []string{"go: go1.26.8", "peer: zap v2", "peer: zerolog v1"}}
	want.Add("Message", own, 100, Value{50.5, UnitTime}, Value{0.125, UnitMallocs})
	want.Add("Message", "zap", 9, Value{1234.6, UnitTime}, Value{17, UnitMallocs})
	want.Add("Service", own, 9, Value{45000, UnitRequests}, Value{22.25, UnitCPU})
	if got, err := Parse(want.Text()); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"no header and no result", "BenchmarkX/nib 1 2 ns/op 3", "BenchmarkX 1 2 ns/op",
		"BenchmarkX/nib one 2 ns/op", "BenchmarkX/nib 1 two ns/op", "BenchmarkX/nib 1",
	} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%q passes", text)
		}
	}
}

func TestLoadReturnsTheNewestCodeFirst(t *testing.T) {
	dir := t.TempDir()
	for path, text := range map[string]string{
		"a-1/calls.txt": "committed: 2026-01-01T10:00:00Z",
		"b-2/calls.txt": "committed: 2026-02-01T10:00:00Z",
		"b-2/pools.txt": "damaged",
		"b-2/notes.md":  "not results", "stray.txt": "not of a processor",
	} {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	calls, err := Load(dir, "calls")
	if err != nil || len(calls) != 2 || calls[0].Key != "b-2" || calls[1].Key != "a-1" {
		t.Errorf("got %+v, %v; want b-2, and then a-1", calls, err)
	}
	if _, err := Load(dir, "pools"); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v, want the damaged line", err)
	}
	if _, err := Load(dir, "codec"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want %v", err, fs.ErrNotExist)
	}
}

func TestRenderReplacesTheRegionOnly(t *testing.T) {
	d := Document{Path: "x.md", Set: "bench", text: func(*Results) string { return "new\n" }}
	for _, test := range []struct{ present, want string }{
		{"a\n<!-- bench:start -->\nold\n<!-- bench:end -->\nb\n", "a\n<!-- bench:start -->\nnew\n<!-- bench:end -->\nb\n"},
		{"<!-- bench:start --><!-- bench:end -->", "<!-- bench:start -->\nnew\n<!-- bench:end -->"},
		{"a <!-- bench:end -->", ""},
		{"a <!-- bench:start -->", ""},
	} {
		got, err := d.Render(nil, test.present)
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%q: got %q, %v, want %q", test.present, got, err, test.want)
		}
	}
}

func TestReadProcessor(t *testing.T) {
	const (
		intel = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 173\n" +
			"model name\t: Intel(R)  Xeon(R) Processor\nstepping\t: 1\n\n" +
			"processor\t: 1\nvendor_id\t: Other\ncpu family\t: 7\nmodel\t\t: 8\nstepping\t: 9\n"
		amd = "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\nstepping\t: 1\n"
		arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\n"
	)
	for _, test := range []struct {
		name, cpuinfo string
		want          Processor
	}{
		{"Intel", intel, Processor{"intel-family6-model173", "Intel(R) Xeon(R) Processor",
			"family 6, model 173, stepping 1"}},
		{"AMD", amd, Processor{"amd-family25-model17", "AMD EPYC",
			"family 25, model 17, stepping 1"}},
		{"ARM", arm, Processor{"arm-part0xd0c", "arm-part0xd0c", "implementer 0x41, part 0xd0c"}},
		{"another vendor", strings.Replace(amd, "AuthenticAMD", "A/../B c", 1),
			Processor{"plan9-mips", "AMD EPYC", ""}},
		{"nothing", "", Processor{"plan9-mips", "plan9-mips", ""}},
	} {
		if got := ReadProcessor(test.cpuinfo, "plan9", "mips"); got != test.want {
			t.Errorf("%s: got %+v\nwant %+v", test.name, got, test.want)
		}
	}
}
