// SPDX-License-Identifier: Apache-2.0

package baseline

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// Name is the file in the directory of the module.
const Name = "allocs.baseline.json"

// format is the version of the file.
const format = 3

// File is the content of the committed file.
type File struct {
	Format  int                  `json:"format"`
	Accepts map[string]*Accepted `json:"accepts"` // accepted findings, by minor release of Go
	// Sum is a checksum of the rest: a file that is cut off, or was edited, is
	// not a baseline.
	Sum string `json:"sum"`
}

// Accepted holds the accepted findings on one minor Go release, and the
// evidence for them.
type Accepted struct {
	Patterns []string            `json:"patterns"`
	Packages []string            `json:"packages"`
	Runs     map[string][]string `json:"runs"` // measured benchmarks and tests, by package
	Roots    map[string]*Root    `json:"roots"`
	Waivers  map[string][]string `json:"waivers,omitempty"` // waivers, by package
}

// Root is an annotated root, or one with sites.
type Root struct {
	Package   string           `json:"package"`
	Allowed   *int             `json:"allowed,omitempty"`
	Absent    bool             `json:"absent,omitempty"`    // there was no code for it
	Reached   bool             `json:"reached,omitempty"`   // runs executed it in each operation
	Undecided int              `json:"undecided,omitempty"` // possible sites that no run decides
	Sites     map[string]*Site `json:"sites,omitempty"`
}

// Site is a place that allocates.
type Site struct {
	// Count is the highest count of a leaf for one operation, or that of
	// the calls in the code where no leaf was measured.
	Count float64 `json:"count,omitempty"`
	Leaf  string  `json:"leaf,omitempty"` // the benchmark or test that showed it
	// Leaves are the counts of the leaves that showed the place, where there
	// are several.
	Leaves map[string]float64 `json:"leaves,omitempty"`
}

// ErrDamaged means that a file was modified after it was written.
var ErrDamaged = errors.New("the baseline is cut off, or was edited")

// Load reads a baseline; nil without an error means that there is none.
func Load(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

func parse(text []byte) (*File, error) {
	f := new(File)
	if err := json.Unmarshal(text, f); err != nil {
		return nil, fmt.Errorf("%w: %w: --accept rewrites it", ErrDamaged, err)
	}
	if f.Format != format {
		return nil, fmt.Errorf("%w: format %d is not known: --accept rewrites it", ErrDamaged,
			f.Format)
	}
	sum, err := f.sum()
	if err != nil {
		return nil, err
	}
	if sum != f.Sum || len(f.Accepts) == 0 {
		return nil, fmt.Errorf("%w: its checksum is not that of its content: --accept rewrites it",
			ErrDamaged)
	}
	return f, nil
}

// sum returns the checksum of the accepted findings.
func (f *File) sum() (string, error) {
	text, err := json.Marshal(f.Accepts)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// Write stores the baseline, sorted, so that its own changes are readable.
func (f *File) Write(path string) error {
	sum, err := f.sum()
	if err != nil {
		return err
	}
	f.Format, f.Sum = format, sum
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(f); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}
