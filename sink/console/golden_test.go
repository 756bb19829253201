// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"flag"
	"os"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with a golden file, or updates it.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	gotLines, wantLines := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range max(len(gotLines), len(wantLines)) {
		var g, w []byte
		if i < len(gotLines) {
			g = gotLines[i]
		}
		if i < len(wantLines) {
			w = wantLines[i]
		}
		if !bytes.Equal(g, w) {
			t.Errorf("%s:%d (-update writes it anew)\n got %q\nwant %q", path, i+1, g, w)
			return
		}
	}
}

func readLines(t *testing.T, path string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
}

// demoLines is a realistic set of lines of every kind.
func demoLines(t *testing.T) [][]byte { return readLines(t, "testdata/demo.jsonl") }

func TestGolden(t *testing.T) {
	for _, tt := range []struct {
		name, lines string
		config      Config
	}{
		{"demo.plain", "demo", Config{Color: ColorNever, TimeZone: time.UTC}},
		{"demo.color", "demo", Config{Color: ColorAlways, TimeZone: time.UTC}},
		{"demo.80", "demo", Config{Color: ColorNever, TimeZone: time.UTC, Width: 80}},
		{"demo.80.color", "demo", Config{Color: ColorAlways, TimeZone: time.UTC, Width: 80}},
		{"demo.120", "demo", Config{Color: ColorNever, TimeZone: time.UTC, Width: 120}},
		{"demo.200", "demo", Config{Color: ColorNever, TimeZone: time.UTC, Width: 200}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := New(new(bytes.Buffer), tt.config)
			var got []byte
			for _, line := range readLines(t, "testdata/"+tt.lines+".jsonl") {
				got = s.Render(got, line)
			}
			golden(t, "testdata/"+tt.name+".golden", bytes.ReplaceAll(got, []byte{0x1b}, []byte("␛")))
		})
	}
}
