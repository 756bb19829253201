// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// spdx is the licence, in the first line of each file.
const spdx = "// SPDX-License-Identifier: Apache-2.0\n"

func checkLicence(t *tree) (v faults) {
	check := func(name, text string) {
		if !strings.HasPrefix(text, spdx) {
			v = append(v, name+": the first line is not "+strings.TrimSpace(spdx))
		}
	}
	for _, s := range t.files {
		check(s.path, s.text)
	}
	for name, text := range t.other {
		if path.Ext(name) == ".s" {
			check(name, text)
		}
	}
	return v
}

// checkUnsafe allows unsafe in one named file per package, and keeps linkname
// out.
func checkUnsafe(t *tree) (v faults) {
	for _, s := range t.files {
		name := path.Base(s.path)
		generated := ast.IsGenerated(s.syntax) && within(s.folder, "examples") // by protoc
		if generated {
			continue
		}
		for _, spec := range s.syntax.Imports {
			if spec.Path.Value == `"unsafe"` && name != "unsafe.go" && name != "unsafe_test.go" {
				v = append(v, s.at(spec)+": unsafe is imported in unsafe.go only")
			}
		}
		for _, group := range s.syntax.Comments {
			if strings.HasPrefix(group.List[len(group.List)-1].Text, "//go:linkname") {
				v = append(v, s.at(group)+": linkname is not used")
			}
		}
	}
	return v
}

// checkAssembly allows functions of one instruction, which Go cannot express.
// Loads of arguments, stores of results and RET do not count.
func checkAssembly(t *tree) (v faults) {
	for name, text := range t.other {
		if path.Ext(name) != ".s" {
			continue
		}
		n := 0
		for line := range strings.Lines(text) {
			line, _, _ = strings.Cut(line, "//")
			fields := strings.Fields(line)
			switch {
			case len(fields) == 0 || fields[0] == "#include" || fields[0] == "RET":
			case fields[0] == "TEXT":
				n = 0
			case strings.HasPrefix(fields[0], "MOV") && strings.Contains(line, "(FP)"):
			default:
				if n++; n == 2 {
					v = append(v, name+": functions in assembly have one instruction")
				}
			}
		}
	}
	return v
}

// checkRootModule keeps the root module free of requirements.
func checkRootModule(t *tree) (v faults) {
	if _, ok := t.other["go.sum"]; ok {
		v = append(v, "go.sum: the root module requires nothing, so there is nothing to sum")
	}
	got, want := strings.Fields(t.other["go.mod"]), []string{"module", root, "go", "1.24"}
	if !slices.Equal(got, want) {
		v.add("go.mod: got %s, want %s", got, want)
	}
	return v
}

func TestLicence(t *testing.T) {
	verify(t, checkLicence, map[string]string{"a.go": "package a\n", "a.s": "\n" + spdx},
		"a.go: the first line", "a.s: the first line")
}

func TestUnsafe(t *testing.T) {
	verify(t, checkUnsafe, map[string]string{
		"a.go": "package a\n\nimport \"unsafe\"\n\n// nanotime is fast.\n//\n//go:linkname nanotime\n",
	}, "a.go:3: unsafe", "a.go:5: linkname")
}

func TestAssembly(t *testing.T) {
	verify(t, checkAssembly, map[string]string{
		"a.s": "#include \"textflag.h\"\nTEXT x(SB), $0\n\tMOVQ p+0(FP), AX\n\tPAUSE\n\tPAUSE\n\tRET\n",
	}, "a.s: functions in assembly")
}

func TestRootModule(t *testing.T) {
	verify(t, checkRootModule, map[string]string{
		"go.mod": "module " + root + "\n\ngo 1.24\n\nrequire example.com/x v1.0.0\n", "go.sum": "",
	}, "go.sum", "go.mod: got")
}
