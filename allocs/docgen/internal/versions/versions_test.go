// SPDX-License-Identifier: Apache-2.0

package versions

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/toolchain"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// small returns a handwritten table.
func small() *Matrix {
	always := func(n float64, said ...string) Cell {
		return Cell{PerOp: n, Tool: n, Said: said, Verdict: verdict.Always}
	}
	none := Cell{Verdict: verdict.None}
	return &Matrix{
		Target:   "linux/amd64",
		Releases: []Release{{"go1.17.13", "1.17", true}, {"go1.22.12", "1.22", false}, {"go1.27.4", "1.27", false}},
		Rows: []Row{
			{"Fresh", "makes it", []Cell{always(1, "new(T)"), always(1, "new(T)"), none}},
			{"Grown", "grows it", []Cell{always(3), always(3), always(1, "append(b, c)")}},
		},
	}
}

func TestMarkdown(t *testing.T) {
	got := small().Markdown()
	for _, want := range []string{
		"| path | 1.17* | 1.22 | 1.27 |\n",
		"| `Fresh` makes it | 1 | 1 | **0** |\n",
		"| `Grown` grows it | 3 · | 3 · | **1** |\n",
		"counted on 1.17.13, 1.22.12, 1.27.4, linux/amd64.",
		"| `Fresh` | 1.17–1.22: `new(T)` |\n",
		"| `Grown` | 1.17–1.22: nothing; 1.27: `append(b, c)` |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant in it %q", got, want)
		}
	}
}

func TestInto(t *testing.T) {
	m := small()
	once, err := m.Into([]byte("before\n" + Begin + "\nstale\n" + End + "\nafter\n"))
	if err != nil {
		t.Fatal(err)
	}
	twice, err := m.Into(once)
	if err != nil || !bytes.Equal(once, twice) {
		t.Errorf("got another document the second time: %v", err)
	}
	text := string(once)
	if !strings.HasPrefix(text, "before\n"+Begin+"\n| path") || !strings.HasSuffix(text, "\n"+End+"\nafter\n") || strings.Contains(text, "stale") {
		t.Errorf("got\n%s", text)
	}
	for _, bad := range []string{"", Begin + "\n", End + "\n", End + "\n" + Begin + "\n"} {
		if _, err := m.Into([]byte(bad)); err == nil {
			t.Errorf("%q: got no error", bad)
		}
	}
}

func TestSVGIsXML(t *testing.T) {
	d := xml.NewDecoder(strings.NewReader(small().SVG()))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestCheckFindsDisagreement(t *testing.T) {
	if err := small().check(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(c *Cell){
		"counts differ":                 func(c *Cell) { c.Tool = 2 },
		"it allocates, the tool denies": func(c *Cell) { c.Verdict = verdict.None },
		"it does not, the tool insists": func(c *Cell) { c.PerOp, c.Tool = 0, 0 },
	} {
		m := small()
		spoil(&m.Rows[0].Cells[0])
		if err := m.check(); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

// TestExperiment repeats the experiment: on Go 1.17 and the release in use, or
// with NIB_E2E=full on all of them.
func TestExperiment(t *testing.T) {
	releases := []string{"1.17", ""}
	switch os.Getenv("NIB_E2E") {
	case "":
		t.Skip("NIB_E2E is not set: it fetches Go releases and measures on each")
	case "full":
		releases = Releases
	}
	dir, err := filepath.Abs("../../../testdata/versions")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for _, r := range releases {
		if _, err := toolchain.Find(ctx, dir, r, ""); err != nil {
			t.Skipf("Go %s cannot be had: %v", r, err)
		}
	}
	m, err := Run(ctx, dir, releases, "", nil) // it compares the counts of tool and test
	if err != nil {
		t.Fatal(err)
	}
	last := len(releases) - 1
	for name, want := range map[string][2]float64{
		"FreshDirect": {0, 0}, "FreshInterface": {1, 0}, "HiddenInterface": {1, 1}, "PoolDirect": {0, 0}, "PoolInterface": {0, 0}, "PoolSlice": {1, 1},
		"SinkInterface": {1, 1}, "Sized": {1, 0}, "Sorted": {2, 0},
	} {
		found := false
		for _, row := range m.Rows {
			if row.Name != name {
				continue
			}
			found = true
			if got := [2]float64{row.Cells[0].PerOp, row.Cells[last].PerOp}; got != want {
				t.Errorf("%s: got %v, want %v", name, got, want)
			}
		}
		if !found {
			t.Errorf("%s is not in the table", name)
		}
	}
	if os.Getenv("NIB_E2E") == "full" {
		published(t, m)
	}
}

// published compares with the table in docs, when that was made with the same
// releases to the last number.
func published(t *testing.T, m *Matrix) {
	t.Helper()
	page, err := os.ReadFile("../../../../docs/zero-alloc.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, []byte(m.versions()+", "+m.Target)) {
		t.Logf("docs/zero-alloc.md is about other releases than %s, %s: not compared", m.versions(), m.Target)
		return
	}
	now, err := m.Into(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(now, page) {
		t.Errorf("the table in docs/zero-alloc.md is another one now:\n%s", m.Markdown())
	}
}
