// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/settings"
)

const documentationFile = "../docs/setup.md"

var update = flag.Bool("update", false, "write the tables of docs/setup.md")

// documentation returns docs/setup.md.
func documentation(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(documentationFile)
	must.Succeed(t, err)
	return string(text)
}

// TestDocumentationHasEverySetting compares the tables with the tags that the
// settings are decoded by.
func TestDocumentationHasEverySetting(t *testing.T) {
	general := "| Variable | JSON | Value | Default |\n|---|---|---|---|\n" +
		"| `NIB_CONFIG` | | path of a JSON file that the other variables win over | none |\n"
	list := settings.Of(new(Config))
	for i := range list {
		general += "| `NIB_" + strings.ToUpper(list[i].Name) + "` " + settings.Table(list[i:i+1])
	}
	outputs := table("Every output", &leveled{}) + table("`stdout`, `stderr` and `file`", &formatted{}) +
		table("`file`, and every destination behind a network", &spooled{})
	for _, k := range builtin() {
		outputs += table("`"+strings.Join(k.Forms, "`, `")+"`: "+k.Doc, k.Params())
	}
	text := documentation(t)
	want := replaceBlock(t, replaceBlock(t, text, "settings", general), "outputs", outputs)
	if *update {
		must.Succeed(t, os.WriteFile(documentationFile, []byte(want), 0o644))
	} else if text != want {
		t.Error("the tables differ from the tags: go test ./setup -run Documentation -update")
	}
}

// table returns the table of the settings of a struct, none if it has none.
func table(title string, of any) string {
	rows := settings.Table(settings.Of(of))
	if rows == "" {
		return "\n" + title + ".\n"
	}
	return "\n" + title + ":\n\n| Parameter | Value | Default |\n|---|---|---|\n" + rows
}

// replaceBlock replaces the text between two marks.
func replaceBlock(t *testing.T, text, name, block string) string {
	t.Helper()
	begin, end := "<!-- "+name+":start -->\n", "\n<!-- "+name+":end -->"
	before, rest, ok := strings.Cut(text, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("the marks %q and %q are missing", begin, end)
	}
	return before + begin + strings.Trim(block, "\n") + end + after
}

// TestDocumentationHasNoFaults reads the variables and the JSON of the
// examples.
func TestDocumentationHasNoFaults(t *testing.T) {
	text := documentation(t)
	variables := 0
	for _, m := range regexp.MustCompile(`(?m)\b(NIB_[A-Z]+)='?([^\s'`+"`"+`]+)`).FindAllStringSubmatch(text, -1) {
		variables++
		if _, err := (env{m[1]: m[2]}).readWith(fakeKind); err != nil {
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
	for _, m := range regexp.MustCompile("`(file:/[^`]*)`").FindAllStringSubmatch(text, -1) {
		outputs++
		if _, err := (env{"NIB_OUTPUT": m[1]}).read(); err != nil {
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
		if _, err := Read(Load(strings.NewReader(m[1])), Kinds(fakeKind)); err != nil {
			t.Errorf("%s: %v", m[1], err)
		}
	}
	if variables < 8 || outputs < 1 || blocks < 1 {
		t.Errorf("found %d variables, %d outputs, %d blocks: the examples have another form now", variables, outputs, blocks)
	}
}
