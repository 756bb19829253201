// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documentation is docs/setup.md.
func documentation(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/setup.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// firstCells are the words in backticks in the first columns of table rows.
func firstCells(text string, columns int) (cells []string) {
	for row := range strings.Lines(text) {
		if parts := strings.Split(row, "|"); strings.HasPrefix(row, "| `") && len(parts) > columns {
			for _, cell := range parts[1 : columns+1] {
				for i, word := range strings.Split(cell, "`") {
					if i%2 == 1 {
						cells = append(cells, word)
					}
				}
			}
		}
	}
	return cells
}

// TestDocumentationHasEverySetting compares the tables with the settings.
func TestDocumentationHasEverySetting(t *testing.T) {
	_, text, _ := strings.Cut(documentation(t), "## Settings")
	text, _, _ = strings.Cut(text, "## Which way")
	general, outputs, _ := strings.Cut(text, "### Outputs")

	want := []string{"NIB_CONFIG"}
	for _, s := range configSettings() {
		want = append(want, "NIB_"+strings.ToUpper(s.name), s.name)
	}
	if got := firstCells(general, 2); !slices.Equal(got, want) {
		t.Errorf("the table of settings has\n     %q\nwant %q", got, want)
	}

	want = []string{toStdout, toStderr, toFile, toJournald, toDiscard}
	for _, s := range outputSettings() {
		if s.name != "to" {
			want = append(want, s.name)
		}
		of := "all"
		if len(s.only) > 0 {
			of = strings.Join(s.only, ", ")
		}
		if row := "| `" + s.name + "` | " + of + " |"; s.name != "to" && !strings.Contains(outputs, row) {
			t.Errorf("there is no row %q", row)
		}
	}
	if got := firstCells(outputs, 1); !slices.Equal(got, want) {
		t.Errorf("the tables of outputs have\n     %q\nwant %q", got, want)
	}
}

// TestDocumentationHasNoFaults reads the variables and the JSON of the examples.
func TestDocumentationHasNoFaults(t *testing.T) {
	text := documentation(t)
	variables := 0
	for _, m := range regexp.MustCompile(`(?m)(NIB_[A-Z]+)=([^\s`+"`"+`]+)`).FindAllStringSubmatch(text, -1) {
		variables++
		if _, err := (env{m[1]: m[2]}).read(); err != nil {
			t.Errorf("%s: %v", m[0], err)
		}
	}
	for _, m := range regexp.MustCompile(`\{name: (NIB_[A-Z]+), value: "([^"]*)"\}`).FindAllStringSubmatch(text, -1) {
		variables++
		if _, err := (env{m[1]: m[2]}).read(); err != nil {
			t.Errorf("%s: %v", m[0], err)
		}
	}
	outputs := 0
	for _, m := range regexp.MustCompile("`(file:[^`]*)`").FindAllStringSubmatch(text, -1) {
		outputs++
		if _, err := ParseOutputs(m[1]); err != nil {
			t.Errorf("%s: %v", m[1], err)
		}
	}
	blocks := 0
	for _, m := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(text, -1) {
		if strings.HasPrefix(m[1], `{"time"`) {
			var l line
			if err := json.Unmarshal([]byte(m[1]), &l); err != nil {
				t.Errorf("%s: %v", m[1], err)
			}
			continue
		}
		blocks++
		if _, err := Read(Load(strings.NewReader(m[1]))); err != nil {
			t.Errorf("%s: %v", m[1], err)
		}
	}
	if variables < 8 || outputs < 1 || blocks < 1 {
		t.Errorf("found %d variables, %d outputs, %d blocks: the examples have another form now", variables, outputs, blocks)
	}
}
