// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Store is a directory that keeps the measurements of each module and the
// reports of the tool, so that a later run repeats only the changed ones. ""
// keeps nothing.
type Store string

// subject identifies the content of a kept file. A file with another subject is
// not used.
type subject struct {
	Path, Version, Dir, Package, Bench string
	Roots                              []string
}

func (m *Module) subject() subject {
	return subject{m.Path, m.Version, m.Dir, m.Package, m.Bench, m.Roots}
}

func (s subject) equal(other subject) bool {
	return slices.Equal(s.Roots, other.Roots) && s.Path == other.Path && s.Version == other.Version && s.Dir == other.Dir &&
		s.Package == other.Package && s.Bench == other.Bench
}

// keptTruth is a file with measurements.
type keptTruth struct {
	Of    subject
	Truth *Truth
}

// reports are the tool's reports on a module, with its benchmarks and without.
// Tool is the checksum of its executable.
type reports struct {
	Of            subject
	Tool          string
	With, Without *Report
}

func (s Store) truth(m *Module) (*Truth, error) {
	var k keptTruth
	if err := s.read(m, "truth", &k); err != nil || !k.Of.equal(m.subject()) {
		return nil, err
	}
	return k.Truth, nil
}

func (s Store) keepTruth(m *Module, t *Truth) error {
	return s.write(m, "truth", keptTruth{m.subject(), t})
}

// reports returns the reports of a tool; the tool "" is any.
func (s Store) reports(m *Module, tool string) (*reports, error) {
	var k reports
	if err := s.read(m, "reports", &k); err != nil || !k.Of.equal(m.subject()) || tool != "" && tool != k.Tool {
		return nil, err
	}
	return &k, nil
}

func (s Store) keepReports(m *Module, r *reports) error {
	r.Of = m.subject()
	return s.write(m, "reports", r)
}

func (s Store) read(m *Module, what string, into any) error {
	if s == "" {
		return nil
	}
	text, err := os.ReadFile(s.name(m, what))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func (s Store) write(m *Module, what string, v any) error {
	if s == "" {
		return nil
	}
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(string(s), 0o755); err != nil {
		return err
	}
	return os.WriteFile(s.name(m, what), text, 0o644)
}

func (s Store) name(m *Module, what string) string {
	return filepath.Join(string(s), strings.Map(func(r rune) rune {
		if strings.ContainsRune("/ ,", r) {
			return '-'
		}
		return r
	}, m.Name)+"."+what+".json")
}
