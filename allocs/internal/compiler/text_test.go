// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/toolchain"
)

// recorded reads the output of a release for allocs/testdata/versions. The
// files are made by, in that directory:
//
//	GOTOOLCHAIN=go1.17.13 go build -gcflags=-m=2 . 2> text-go1.17.13.txt
//
// with the directory of the release written as /usr/local/go.
func recorded(t *testing.T, release string) *Text {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "text-go"+release+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	all := parseText(text, func(name string) string { return filepath.Base(name) })
	if len(all) != 1 || all["example.com/versions"] == nil {
		t.Fatalf("got %d packages, want one", len(all))
	}
	return all["example.com/versions"]
}

func TestParseTextOfReleases(t *testing.T) {
	at := func(line, col int) Position { return Position{"paths.go", line, col} }
	for _, c := range []struct {
		release string
		at      Position
		want    string // the value that escapes; "" for none
		moved   bool
		reasons int
	}{
		{"1.13.15", at(22, 19), "new(chained)", false, 0},
		{"1.13.15", at(69, 36), "&Event literal", false, 0},
		{"1.13.15", at(102, 6), "e", true, 0},
		{"1.13.15", at(147, 11), "make([]byte, 0, len(name) + 8)", false, 0},
		{"1.13.15", at(14, 10), "", false, 0},
		{"1.17.13", at(22, 19), "new(chained)", false, 8},
		{"1.17.13", at(69, 29), "&Event{...}", false, 3},
		{"1.17.13", at(185, 2), "keys", true, 6},
		{"1.21.13", at(22, 19), "new(chained)", false, 10},
		{"1.21.13", at(111, 9), `"name"`, false, 3},
		{"1.27.4", at(22, 19), "", false, 0},
		{"1.27.4", at(140, 9), "n", false, 3},
		{"1.27.4", at(176, 16), "append(keys, name)", false, 5},
		{"1.27.4", at(102, 6), "e", true, 5},
		{"1.27.4", at(147, 11), "", false, 0},
	} {
		var got []Escape
		for _, e := range recorded(t, c.release).Escapes {
			if e.Stack[0] == c.at {
				got = append(got, e)
			}
		}
		if c.want == "" {
			if len(got) > 0 {
				t.Errorf("%s %v: got %+v, want none", c.release, c.at, got)
			}
			continue
		}
		if len(got) != 1 || got[0].What != c.want || got[0].Moved != c.moved || len(got[0].Reasons) != c.reasons || !got[0].Outer {
			t.Errorf("%s %v: got %+v, want one of %q, moved %v, %d reasons", c.release, c.at, got, c.want, c.moved, c.reasons)
		}
	}
}

func TestParseTextInlined(t *testing.T) {
	for _, c := range []struct {
		release, name string
		line, col     int
		want          bool
	}{
		{"1.13.15", "Str", 15, 7, true},
		{"1.13.15", "add", 15, 7, true},
		{"1.13.15", "Strings", 186, 14, true},
		{"1.13.15", "Msg", 15, 7, false},
		{"1.27.4", "Str", 23, 7, true},
		{"1.17.13", "Str", 23, 7, false},
	} {
		if got := recorded(t, c.release).Inlined.At(Position{"paths.go", c.line, c.col}, c.name); got != c.want {
			t.Errorf("%s: %s at %d:%d: got %v, want %v", c.release, c.name, c.line, c.col, got, c.want)
		}
	}
}

// places returns the escapes without their reasons, sorted: the outermost
// position and the value.
func places(all map[string][]Escape) []string {
	seen := map[string]bool{}
	for _, escapes := range all {
		for _, e := range escapes {
			if e.What != "" {
				seen[stackKey(e.Stack[len(e.Stack)-1:])+e.What] = true
			}
		}
	}
	var out []string
	for s := range seen {
		out = append(out, s)
	}
	sort.Strings(out)
	return out
}

// TestTextAgreesWithJSON asks a release in both ways about the sample; with
// NIB_E2E=full several of them.
func TestTextAgreesWithJSON(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	dir, err := filepath.Abs("../../testdata/sample")
	if err != nil {
		t.Fatal(err)
	}
	releases := []string{""}
	if os.Getenv("NIB_E2E") == "full" {
		releases = []string{"1.24", "1.25", "1.26", "1.27"}
	}
	for _, release := range releases {
		t.Run("go"+release, func(t *testing.T) { agree(t, dir, release) })
	}
}

func agree(t *testing.T, dir, release string) {
	ctx := context.Background()
	tc, err := toolchain.Find(ctx, dir, release, "")
	if err != nil {
		t.Fatal(err)
	}
	pkgs, err := load.List(ctx, tc, dir, nil, []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	answers := [2]map[string][]Escape{}
	for i, text := range []bool{false, true} {
		c := &Collector{Toolchain: tc, Work: t.TempDir(), Dir: dir, Text: text}
		if answers[i], err = c.Collect(ctx, pkgs); err != nil {
			t.Fatal(err)
		}
	}
	want, got := places(answers[0]), places(answers[1])
	if len(want) < 50 {
		t.Fatalf("got %d escapes from -json, want 50 or more", len(want))
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got from -m=2, and not from -json:\n%s\nwant from -json, and not in -m=2:\n%s",
			strings.Join(without(got, want), "\n"), strings.Join(without(want, got), "\n"))
	}
	// Both give the same reasons: text and place of the steps.
	reasons := func(all map[string][]Escape) map[string][]Step {
		out := map[string][]Step{}
		for _, escapes := range all {
			for _, e := range escapes {
				key := stackKey(e.Stack[len(e.Stack)-1:]) + e.What
				if e.What != "" && len(out[key]) == 0 {
					out[key] = e.Reasons
				}
			}
		}
		return out
	}
	have := reasons(answers[1])
	for key, want := range reasons(answers[0]) {
		if got := have[key]; len(got) != len(want) {
			t.Errorf("%s: got %d reasons, want %d\n%+v\n%+v", key, len(got), len(want), got, want)
		}
	}
}

func without(a, b []string) []string {
	in := map[string]bool{}
	for _, s := range b {
		in[s] = true
	}
	var out []string
	for _, s := range a {
		if !in[s] {
			out = append(out, s)
		}
	}
	return out
}

func TestTextSilenceIsAnError(t *testing.T) {
	_, _, pkgs := module(t, inlined)
	for _, c := range []struct {
		name, said string
		want       error
	}{
		{"nothing", "", ErrSilent},
		{"only the name", "# example.com/m\n", ErrSilent},
		{"of another package", "# example.com/n\n./m.go:5:6: can inline inner\n", ErrSilent},
		{"of this one", "# example.com/m\n./m.go:5:6: can inline inner\n", nil},
	} {
		all := parseText([]byte(c.said), filepath.Base)
		if got := silent(all, pkgs); !errors.Is(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// FuzzParseText checks properties that all users of the result need: positions
// from 1 in files with a name, values with a text, and the same answer twice.
func FuzzParseText(f *testing.F) {
	for _, release := range []string{"1.13.15", "1.17.13", "1.21.13", "1.27.4"} {
		text, err := os.ReadFile(filepath.Join("testdata", "text-go"+release+".txt"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text[:4000]))
		f.Add(string(text[len(text)-4000:]))
	}
	f.Add("# m\n./m.go:1:2: x escapes to heap:\n./m.go:1:2:   flow: {heap} ← x:\n./m.go:1:2:     from x (assign) at ./m.go:1:2\n")
	f.Fuzz(func(t *testing.T, text string) {
		same := func(name string) string { return name }
		all := parseText([]byte(text), same)
		if again := parseText([]byte(text), same); !reflect.DeepEqual(all, again) {
			t.Fatal("two readings differ")
		}
		for _, answer := range all {
			if len(answer.Escapes) > answer.Lines {
				t.Fatalf("got %d escapes from %d lines", len(answer.Escapes), answer.Lines)
			}
			for _, e := range answer.Escapes {
				p := e.Stack[0]
				if len(e.Stack) != 1 || p.Line < 1 || p.Col < 1 || !strings.HasSuffix(p.File, ".go") || !e.Outer {
					t.Fatalf("got %+v", e)
				}
				if !strings.Contains(text, e.What) {
					t.Fatalf("got the value %q, which is not in the text", e.What)
				}
			}
		}
	})
}
