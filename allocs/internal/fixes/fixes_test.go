// SPDX-License-Identifier: Apache-2.0

package fixes

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

const source = "package p\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nvar a = fmt.Sprint(1)\n\nvar b = os.Args\n"

func TestApply(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(part string) (from, to int) {
		for i := range source {
			if source[i:i+len(part)] == part {
				return i, i + len(part)
			}
		}
		t.Fatalf("no %q", part)
		return 0, 0
	}
	replace := func(part, text string) change {
		from, to := at(part)
		return change{from, to, text}
	}
	before := func(part, text string) change {
		from, _ := at(part)
		return change{from, from, text}
	}
	after := func(part, text string) change {
		_, to := at(part)
		return change{to, to, text}
	}
	fix := func(c ...change) Fix {
		return Fix{Place: Place{File: file}, found: []byte(source), changes: c}
	}
	imports := after("import (", "\n\t\"strconv\"")
	const withStrconv = "package p\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar a = strconv.Itoa(1)\n\nvar b = os.Args\n"
	for _, c := range []struct {
		name  string
		fixes []Fix
		want  string
	}{
		{"an import comes and one goes", []Fix{fix(imports, replace("fmt.Sprint(1)", "strconv.Itoa(1)"))}, withStrconv},
		{"two fixes want the same import", []Fix{fix(imports, replace("fmt.Sprint(1)", "strconv.Itoa(1)")), fix(imports)}, withStrconv},
		{"the second of two that overlap is left out", []Fix{fix(imports, replace("fmt.Sprint(1)", "strconv.Itoa(1)")), fix(replace("Sprint(1)", "Sprint(2)"), replace("os.Args", "nil"))}, withStrconv},
		{"what is inserted comes before what is replaced", []Fix{fix(replace("var b", "var c"), before("var b", "// b is first.\n"))},
			"package p\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nvar a = fmt.Sprint(1)\n\n// b is first.\nvar c = os.Args\n"},
		{"an import that was taken from no fix stays", []Fix{fix(replace("1", "2"))}, "package p\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nvar a = fmt.Sprint(2)\n\nvar b = os.Args\n"},
	} {
		applied, err := Apply(c.fixes)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		edits := applied.Edits
		if err != nil || len(edits) != 1 || string(edits[0].New) != c.want || string(edits[0].Old) != source {
			t.Errorf("%s: got %v, %v\nwant %s", c.name, edits, err, c.want)
			if len(edits) == 1 {
				t.Errorf("got\n%s", edits[0].New)
			}
		}
	}
}

func TestUndo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.go")
	if err := os.WriteFile(file, []byte(source), 0o640); err != nil {
		t.Fatal(err)
	}
	edits := []Edit{{File: file, Old: []byte(source), New: []byte("package p\n")}}
	for _, step := range []struct {
		do   func([]Edit) error
		want string
	}{{Write, "package p\n"}, {Undo, source}} {
		if err := step.do(edits); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(file)
		info, serr := os.Stat(file)
		if err != nil || serr != nil || string(got) != step.want || info.Mode().Perm() != 0o640 {
			t.Errorf("got %q, %v, %v; want %q", got, err, serr, step.want)
		}
	}
}

// Measuring takes minutes, in which the files can be edited.
func TestFilesThatChangeMeanwhileAreKept(t *testing.T) {
	const edited = "package p // edited\n"
	file := filepath.Join(t.TempDir(), "p.go")
	other := filepath.Join(filepath.Dir(file), "q.go")
	edits := []Edit{{file, []byte(source), []byte("package p\n")}, {other, []byte(source), []byte("package p\n")}}
	for name, do := range map[string]func([]Edit) error{"Write": Write, "Undo": Undo} {
		for f, text := range map[string]string{file: edited, other: map[string]string{"Write": source, "Undo": "package p\n"}[name]} {
			if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := do(edits); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: got %v, want %v", name, err, ErrChanged)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != edited {
			t.Errorf("%s: got %q, %v, want what was edited", name, got, err)
		}
		if got, err := os.ReadFile(other); name == "Undo" && (err != nil || string(got) != source) {
			t.Errorf("%s: the other file: got %q, %v, want it as it was", name, got, err)
		}
	}
}

func TestApplyToAFileThatHasChanged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.go")
	if err := os.WriteFile(file, []byte("// A line more.\n"+source), 0o600); err != nil {
		t.Fatal(err)
	}
	fix := Fix{Place: Place{File: file}, found: []byte(source), changes: []change{{0, 7, "package"}}}
	if a, err := Apply([]Fix{fix}); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v, %v, want %v", a, err, ErrChanged)
	}
}
