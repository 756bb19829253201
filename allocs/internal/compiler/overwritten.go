// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/nib-log/nib/allocs/internal/load"
)

// overwritten returns the package's own files that have no answer in dir
// although they were compiled. The compiler names an answer by the base name of
// the file alone: when generic code of the library's slices.go is compiled into
// a package that has a slices.go itself, one overwrites the other.
func overwritten(dir string, p *load.Package) (map[string]bool, error) {
	own := map[string]string{}
	for _, name := range p.Sources() {
		own[strings.TrimSuffix(filepath.Base(name), ".go")+".json"] = name
	}
	answers, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	if err != nil {
		return nil, err
	}
	lost := map[string]bool{}
	for _, name := range answers {
		source, ok := own[filepath.Base(name)]
		if !ok {
			continue
		}
		about, err := subject(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		if about != source {
			lost[source] = true
		}
	}
	return lost, nil
}

// subject returns the source file that an answer describes.
func subject(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadBytes('\n')
	if err != nil {
		return "", err
	}
	var head lspRecord
	if err := json.Unmarshal(line, &head); err != nil {
		return "", err
	}
	return head.File, nil
}

// restore compiles the package again with an overlay that gives the files
// without an answer a name that the library does not have.
func (c *Collector) restore(ctx context.Context, p *load.Package, lost map[string]bool) ([]Escape, error) {
	dir, err := os.MkdirTemp(c.Work, "renamed-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var overlay struct{ Replace map[string]string }
	if c.Overlay != "" {
		text, err := os.ReadFile(c.Overlay)
		if err = errors.Join(err, json.Unmarshal(text, &overlay)); err != nil {
			return nil, err
		}
	}
	original := map[string]string{}
	for file := range lost {
		name := filepath.Join(filepath.Dir(file), "allocs_"+filepath.Base(file))
		original[name] = file
	}
	again := *c
	again.Overlay = filepath.Join(dir, "overlay.json")
	if err := renamed(again.Overlay, overlay.Replace, original); err != nil {
		return nil, err
	}
	if err := again.compile(ctx, []*load.Package{p}, dir); err != nil {
		return nil, err
	}
	all, err := read(output(dir, p), p)
	var out []Escape
	for _, e := range all {
		if original[e.Stack[len(e.Stack)-1].File] != "" {
			e.rename(original)
			out = append(out, e)
		}
	}
	return out, err
}

// renamed writes an overlay in which files have other names.
func renamed(path string, replace, original map[string]string) error {
	replace = maps.Clone(replace)
	if replace == nil {
		replace = map[string]string{}
	}
	for name, file := range original {
		replace[name] = file
		replace[file] = "" // as if it did not exist
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// rename gives the positions the original names of their files.
func (e *Escape) rename(original map[string]string) {
	for i, at := range e.Stack {
		e.Stack[i].File = cmp.Or(original[at.File], at.File)
	}
	for i, r := range e.Reasons {
		e.Reasons[i].At.File = cmp.Or(original[r.At.File], r.At.File)
	}
}
