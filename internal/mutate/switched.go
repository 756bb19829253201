// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/json"
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Most mutants are compiled together: an environment variable of the tests
// selects one. Building the tests for each mutant takes longer than running
// them.

// onlyIn is a placeholder for an expression that is true in one mutant.
const onlyIn = "\x00"

// An insertion makes a mutant by text around a piece of code.
type insertion struct {
	order         int // outer ones come first
	from, to      int
	before, after string
}

// around lets the last mutant be switched on by text around n.
func (k *maker) around(n ast.Node, before, after string) {
	k.list[len(k.list)-1].switched = &insertion{len(k.list), k.fset.Position(n.Pos()).Offset, k.fset.Position(n.End()).Offset, before, after}
}

// switchFile returns src with all mutants of a list that can be switched on,
// under the given numbers.
func switchFile(src []byte, list []mutant, numbers []int) []byte {
	type text struct {
		at, order int
		text      string
	}
	var texts []text
	for i, m := range list {
		if m.switched == nil {
			continue
		}
		is := "(mutantNumber == " + strconv.Itoa(numbers[i]) + ")"
		texts = append(texts,
			text{m.switched.from, m.switched.order, strings.ReplaceAll(m.switched.before, onlyIn, is)},
			text{m.switched.to, -m.switched.order, strings.ReplaceAll(m.switched.after, onlyIn, is)})
	}
	slices.SortStableFunc(texts, func(a, b text) int { return cmp.Or(a.at-b.at, a.order-b.order) })
	var out []byte
	at := 0
	for _, t := range texts {
		out = append(append(out, src[at:t.at]...), t.text...)
		at = t.at
	}
	return append(out, src[at:]...)
}

const switchSource = `

import (
	"os"
	"strconv"
)

var mutantNumber = func() int { n, _ := strconv.Atoi(os.Getenv(` + "`" + mutantVariable + "`" + `)); return n }()

func mutantZero[T any](only bool, v T) T {
	if only {
		v = *new(T)
	}
	return v
}
`

const mutantVariable = "NIB_MUTANT"

// buildSwitched compiles the tests with all mutants that can be switched on.
func (p *pkg) buildSwitched() error {
	files := map[string][]byte{}
	byFile, numbers := map[string][]mutant{}, map[string][]int{}
	for i, m := range p.mutants {
		byFile[m.file], numbers[m.file] = append(byFile[m.file], m), append(numbers[m.file], i+1)
	}
	for name, src := range p.sources {
		files[name] = switchFile(src, byFile[name], numbers[name])
	}
	files["mutant_number.go"] = []byte("package " + p.name + switchSource)
	p.switched = filepath.Join(p.temp, "switched.test")
	return p.buildWith(p.temp, files, p.switched)
}

// buildWith compiles the tests with other contents of some files, which it
// writes to dir.
func (p *pkg) buildWith(dir string, files map[string][]byte, bin string) error {
	replace := map[string]string{}
	for name, text := range files {
		changed := filepath.Join(dir, name)
		if err := os.WriteFile(changed, text, 0o600); err != nil {
			return err
		}
		replace[filepath.Join(p.dir, name)] = changed
	}
	overlay := filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return err
	}
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return err
	}
	_, err = p.goTool("test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", bin, "./"+p.opt.tests)
	return err
}
