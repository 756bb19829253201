// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Markers around the part of a document that is generated.
const (
	regionStart = "<!-- bench:start -->"
	regionEnd   = "<!-- bench:end -->"
)

// Sets of results that are stored apart from each other.
const (
	Calls = "" // of log calls
	Codec = "codec"
	Pools = "pools"
)

// FileName returns the name of the file for the results of a set and a build.
func FileName(set, build string) string {
	if set != Calls {
		set += "-"
	}
	return set + build + ".txt"
}

// Load reads the stored results of a set below dir. Those of the nibfast build
// may be missing.
func Load(dir, set string) (*Builds, error) {
	base, err := loadFile(filepath.Join(dir, FileName(set, "default")))
	if err != nil {
		return nil, err
	}
	fast, err := loadFile(filepath.Join(dir, FileName(set, "nibfast")))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return &Builds{Default: base, Fast: fast}, nil
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

// A Document is a file that is generated, or has a generated region.
type Document struct {
	Path    string // below the root of the repository
	Set     string // of the results that it shows
	Content func(b *Builds) string
	Region  bool // only what is between the markers
}

// Documents lists all of them.
var Documents = []Document{
	{Path: "README.md", Content: (*Builds).Short, Region: true},
	{Path: "docs/benchmarks.md", Content: (*Builds).Full, Region: true},
	{Path: "docs/bench.svg", Content: (*Builds).Chart},
	{Path: "docs/schema.md", Set: Codec, Content: (*Builds).CodecTables, Region: true},
	{Path: "docs/pools.md", Set: Pools, Content: (*Builds).PoolTables, Region: true},
	{Path: "docs/files.md", Set: Files, Content: (*Builds).FileTables, Region: true},
	{Path: "docs/spool.md", Set: Spool, Content: (*Builds).SpoolTables, Region: true},
	{Path: "docs/bridges.md", Set: Bridges, Content: (*Builds).BridgeTables, Region: true},
}

// Render returns what the document should contain, given what it contains.
func (d *Document) Render(b *Builds, present string) (string, error) {
	if !d.Region {
		return d.Content(b), nil
	}
	before, rest, ok := strings.Cut(present, regionStart)
	if !ok {
		return "", fmt.Errorf("%s: no %s", d.Path, regionStart)
	}
	_, after, ok := strings.Cut(rest, regionEnd)
	if !ok {
		return "", fmt.Errorf("%s: no %s", d.Path, regionEnd)
	}
	return before + regionStart + "\n" + d.Content(b) + regionEnd + after, nil
}
