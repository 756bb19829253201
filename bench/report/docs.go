// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"

	"github.com/nib-log/nib/bench/bridges"
	"github.com/nib-log/nib/bench/pools"
	"github.com/nib-log/nib/bench/spools"
)

// Markers around the part of a document that is generated.
const (
	regionStart = "<!-- bench:start -->"
	regionEnd   = "<!-- bench:end -->"
)

// Sets of results that are stored separately.
const (
	Calls = "calls" // results of log calls
	Codec = "codec"
	Pools = "pools"
)

// A Document is a file that is generated, or has a generated region.
type Document struct {
	Path    string // below the root of the repository
	Set     string // the set of results that it shows
	Content func(f Families) string
	Region  bool // replace only the text between the markers
}

// Documents lists all documents.
var Documents = []Document{
	{Path: "README.md", Set: Calls, Content: Families.Short, Region: true},
	{Path: "docs/benchmarks.md", Set: Calls, Content: all((*Run).Full, title), Region: true},
	{Path: "docs/bench.svg", Set: Calls, Content: func(f Families) string { return f[0].Chart() }},
	{Path: "docs/schema.md", Set: Codec, Content: all((*Run).CodecTables, scenarioTitle), Region: true},
	{Path: "docs/pools.md", Set: Pools, Content: all((*Run).PoolTables, poolTitle), Region: true},
	{Path: "docs/files.md", Set: Files, Content: all((*Run).FileTables, fileTitle), Region: true},
	{Path: "docs/spool.md", Set: Spool, Content: all((*Run).SpoolTables, spoolTitle), Region: true},
	{Path: "docs/bridges.md", Set: Bridges, Content: all((*Run).BridgeTables, bridgeTitle), Region: true},
	{Path: "docs/otlp.md", Set: OTLP, Content: func(f Families) string { return f[0].OTLPTables() }, Region: true},
}

// all returns the content of a document that compares the processors, whose
// rows have titles, and then has the tables of the first one.
func all(tables func(*Run) string, title func(scenario string) string) func(Families) string {
	return func(f Families) string { return f.Processors(title) + tables(&f[0].Run) }
}

func poolTitle(name string) string {
	for _, s := range pools.Scenarios() {
		if s.Name == name {
			return s.Heading()
		}
	}
	return name
}

func fileTitle(name string) string {
	s := fileScenario(name)
	if s.Line != nil {
		return "writers, " + s.Title
	}
	return "loggers, " + s.Title
}

func spoolTitle(name string) string {
	if s := spoolScenario(name); s.Versus == spools.OSFile {
		return "a record, " + s.Title
	}
	return spoolScenario(name).Title
}

func bridgeTitle(name string) string {
	for _, s := range bridges.Scenarios() {
		if s.Name == name {
			return s.Title
		}
	}
	return name
}

// Render returns the content that the document should have, given its present
// content.
func (d *Document) Render(f Families, present string) (string, error) {
	if !d.Region {
		return d.Content(f), nil
	}
	before, rest, ok := strings.Cut(present, regionStart)
	if !ok {
		return "", fmt.Errorf("%s: no %s", d.Path, regionStart)
	}
	_, after, ok := strings.Cut(rest, regionEnd)
	if !ok {
		return "", fmt.Errorf("%s: no %s", d.Path, regionEnd)
	}
	return before + regionStart + "\n" + d.Content(f) + regionEnd + after, nil
}
