// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/nib-log/nib/allocs/internal/load"
)

// rename writes an overlay in which the files of the packages have names that
// no file of the library has, and returns the names that they have otherwise.
// The compiler names an answer by the base name of the file alone: when generic
// code of the library's slices.go is compiled into a package that has a
// slices.go itself, one answer would overwrite the other.
func (c *Collector) rename(pkgs []*load.Package, overlay string) (
	original map[string]string, err error,
) {
	var files struct{ Replace map[string]string }
	if c.Overlay != "" {
		text, err := os.ReadFile(c.Overlay)
		if err = errors.Join(err, json.Unmarshal(text, &files)); err != nil {
			return nil, err
		}
	}
	if files.Replace == nil {
		files.Replace = map[string]string{}
	}
	original = map[string]string{}
	for _, p := range pkgs {
		if len(p.CgoFiles) > 0 {
			continue
		}
		for _, file := range p.Sources() {
			// What follows an underscore would be a condition of the build.
			name := filepath.Join(filepath.Dir(file), "allocs"+filepath.Base(file))
			original[name] = file
			files.Replace[name] = cmp.Or(files.Replace[file], file)
			files.Replace[file] = "" // as if it did not exist
		}
	}
	text, err := json.Marshal(files)
	if err != nil {
		return nil, err
	}
	return original, os.WriteFile(overlay, text, 0o644)
}

// restore gives the positions the original names of their files.
func (e *Escape) restore(original map[string]string) {
	for i, at := range e.Stack {
		e.Stack[i].File = cmp.Or(original[at.File], at.File)
	}
	for i, r := range e.Reasons {
		e.Reasons[i].At.File = cmp.Or(original[r.At.File], r.At.File)
	}
}
