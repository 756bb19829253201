// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Family has the stored results of a set on one model of processor.
type Family struct {
	*Results
	Key string // the directory of its results, Processor.Key
}

// Families has the families of one set. The first one measured the newest
// commit, and the documents show it.
type Families []Family

// FileName returns the path, below the directory of all results, of the file
// for the results of a set on a model of processor.
func FileName(processor, set string) string {
	return filepath.Join(processor, set+".txt")
}

// Load reads the stored results of a set below dir, which has a directory for
// each model of processor. Without any results the error is
// fs.ErrNotExist.
func Load(dir, set string) (Families, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var families Families
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		f := Family{Key: e.Name()}
		if f.Results, err = loadFile(filepath.Join(dir, FileName(f.Key, set))); err == nil {
			families = append(families, f)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if len(families) == 0 {
		return nil, fmt.Errorf("%s, set %q: %w", dir, set, fs.ErrNotExist)
	}
	slices.SortStableFunc(families, func(a, b Family) int {
		return strings.Compare(b.head("committed"), a.head("committed"))
	})
	return families, nil
}

func loadFile(path string) (*Results, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return r, nil
}
