// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
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

// restore returns the escapes that -m=2 prints for the files without an answer.
func (c *Collector) restore(ctx context.Context, p *load.Package, lost map[string]bool) ([]Escape, error) {
	all, err := c.CollectText(ctx, []*load.Package{p})
	if err != nil {
		return nil, err
	}
	var out []Escape
	for _, e := range all[p.ImportPath].Escapes {
		if lost[e.Stack[len(e.Stack)-1].File] {
			out = append(out, e)
		}
	}
	return out, nil
}
