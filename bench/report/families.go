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

	"github.com/nib-log/nib/bench/measure"
)

// A Family has the stored results of a set on one model of processor.
type Family struct {
	*Results
	Key string // the directory of its results, Processor.Key
	// Older is set if another stored run, of any set and model, measured a later
	// commit.
	Older bool
	// sharesName is set if the processor of another family has the same name.
	sharesName bool
}

// Families has the families of one set, beginning with the one that measured
// the newest commit.
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
	newest := ""
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		f := Family{Key: e.Name()}
		if f.Results, err = loadFile(filepath.Join(dir, FileName(f.Key, set))); err == nil {
			families = append(families, f)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		committed, err := lastCommitted(filepath.Join(dir, f.Key))
		if err != nil {
			return nil, err
		}
		newest = max(newest, committed)
	}
	if len(families) == 0 {
		return nil, fmt.Errorf("%s, set %q: %w", dir, set, fs.ErrNotExist)
	}
	for i := range families {
		f := &families[i]
		f.Older = f.head("committed") < newest
		f.sharesName = slices.ContainsFunc(families, func(o Family) bool { return o.Key != f.Key && o.head("cpu") == f.head("cpu") })
	}
	slices.SortStableFunc(families, func(a, b Family) int {
		return strings.Compare(b.head("committed"), a.head("committed"))
	})
	return families, nil
}

// lastCommitted returns the time of the newest commit that was measured for the
// results below dir.
func lastCommitted(dir string) (string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	newest := ""
	for _, path := range paths {
		r, err := loadFile(path)
		if err != nil {
			return "", err
		}
		newest = max(newest, strings.Join(r.Head("committed"), ""))
	}
	return newest, err
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

// title returns the name of the processor for the head of a column, with its
// model if the name is that of several.
func (f *Family) title() string {
	name := strings.NewReplacer("(R)", "", "(TM)", "", " Processor", "").Replace(f.head("cpu"))
	if _, model, ok := strings.Cut(f.head("model"), ", model "); ok && f.sharesName {
		model, _, _ = strings.Cut(model, ",")
		name += " model " + model
	}
	return name
}

// provenance returns the line of the family in the list of processors.
func (f *Family) provenance() string {
	model := f.head("model")
	if model == "" {
		model = "the model was not recorded"
	}
	line := fmt.Sprintf("- **%s**: %s; %s CPUs; measured on %s at commit %s", f.title(), model, f.head("cpus"), f.head("date"), f.head("commit"))
	if f.Older {
		line += ", **older than the code**"
	}
	return line + ".\n"
}

// processors writes the list of the processors and, if there are several, a
// table with the rows of nib's on each of them side by side.
func (f Families) processors(t *strings.Builder, s *measure.Set) {
	for i := range f {
		t.WriteString(f[i].provenance())
	}
	t.WriteString("\n")
	if len(f) < 2 {
		return
	}
	t.WriteString("nib on each of them, in nanoseconds, and the ratio of the last column below, each within its " +
		"own run. The tables below show the first; [bench/results](../bench/results) has all figures of all.\n\n")
	head := []string{""}
	for i := range f {
		head = append(head, f[i].title()+", ns", "ratio")
	}
	row(t, head)
	t.WriteString("|---|" + strings.Repeat("---:|", len(head)-1) + "\n")
	for _, table := range s.Tables {
		for _, x := range table.Scenarios {
			cells := []string{x.Title}
			measured := false
			for i := range f {
				ns, ok := f[i].Get(x.Name, own, UnitTime)
				measured = measured || ok
				cell := "–"
				if ok {
					cell = nanoseconds(ns)
				}
				cells = append(cells, cell, f[i].ratioCell(&x))
			}
			if measured {
				row(t, cells)
			}
		}
	}
	t.WriteString("\n")
}

// worstCell returns nib's largest ratio of any family, and the family if its
// times are not the ones in the table.
func (f Families) worstCell(x *measure.Scenario) string {
	worst := &f[0]
	for i := range f {
		r, ok := f[i].ratio(x)
		if old, has := worst.ratio(x); ok && (!has || r > old) {
			worst = &f[i]
		}
	}
	cell := worst.ratioCell(x)
	if worst != &f[0] {
		cell += " (" + worst.title() + ")"
	}
	return cell
}
