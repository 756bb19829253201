// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"cmp"
	"fmt"
	"iter"
	"runtime"
	"slices"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/metrics"
)

// SitesConfig configures [Sites].
type SitesConfig struct {
	// MaxSites is the number of call sites that are tracked, rounded up to a power
	// of two. Each takes 128 bytes. Defaults to 1024.
	MaxSites int
}

// Validate returns an error if c is invalid.
func (c SitesConfig) Validate() error { return validSize("MaxSites", c.MaxSites) }

// A SiteCounter is the sink returned by [Sites].
type SiteCounter struct {
	branches
	sink    nib.Sink
	table   table[usage]
	evicted []usage // sums of the sites that were evicted from each set, protected by its lock
}

// usage counts the lines of one call site.
type usage struct {
	lines, bytes uint64
	text         text // beginning of the message, if there is no call site
}

var (
	_ nib.Sink       = (*SiteCounter)(nil)
	_ metrics.Source = (*SiteCounter)(nil)
)

// Sites returns a sink that writes every record to s, and counts lines and
// bytes per call site, to find the calls that log most. The call site is known
// if the logger has [nib.WithCaller]; otherwise lines are counted by message.
//
// Lines count even if s fails to write them. Call sites are kept in sets of
// eight. When a set is full, a new site evicts the one with the fewest bytes,
// whose counts are added to "other": the sum stays exact, but the counts of a
// site that was evicted are too low.
//
// Sites panics if s is nil or c is invalid. The sink is safe for concurrent
// use, and does not allocate per line.
func Sites(s nib.Sink, c SitesConfig) *SiteCounter {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	sites := c.MaxSites
	if sites == 0 {
		sites = 1024
	}
	t := newTable[usage](sites)
	return &SiteCounter{branches: newBranches("Sites", s), sink: s, table: t, evicted: make([]usage, len(t.sets))}
}

// WriteRecord counts r and writes it to the sink.
func (c *SiteCounter) WriteRecord(r *nib.Record) error {
	c.count(r)
	return c.sink.WriteRecord(r)
}

func (c *SiteCounter) count(r *nib.Record) {
	k := c.table.site(r)
	i := c.table.index(k)
	s := &c.table.sets[i]
	s.mu.Lock()
	defer s.mu.Unlock()
	w, known := s.find(k)
	if !known {
		c.evicted[i].lines += w.value.lines
		c.evicted[i].bytes += w.value.bytes
		*w = slot[usage]{key: k}
		if k.pc == 0 {
			w.value.text.set(r.Message)
		}
	}
	w.value.lines++
	w.value.bytes += uint64(len(r.Line))
	w.rank = w.value.bytes
}

// A SiteCount has the counts of a call site.
type SiteCount struct {
	Function string  `json:"function,omitempty"` // "" if the call site is unknown
	File     string  `json:"file,omitempty"`
	Line     int     `json:"line,omitempty"`
	Message  string  `json:"message,omitempty"` // beginning of the message, if there is no call site
	Lines    uint64  `json:"lines"`
	Bytes    uint64  `json:"bytes"`
	Share    float64 `json:"share"` // share of all bytes, 0 to 1
}

// A SiteReport is the result of [SiteCounter.Report].
type SiteReport struct {
	Lines uint64      `json:"lines"` // lines of all sites
	Bytes uint64      `json:"bytes"`
	Sites []SiteCount `json:"sites"` // the requested ones, the most bytes first
	Other SiteCount   `json:"other"` // all others
}

// Report returns the n sites that have written the most bytes, or all tracked
// sites if n is negative. It may be called at any time, and allocates.
func (c *SiteCounter) Report(n int) SiteReport {
	type site struct {
		key key
		usage
	}
	var sites []site
	var rep SiteReport
	for i := range c.table.sets {
		s := &c.table.sets[i]
		s.mu.Lock()
		for _, w := range s.slots {
			if w.key.used {
				sites = append(sites, site{w.key, w.value})
			}
		}
		rep.Other.Lines += c.evicted[i].lines
		rep.Other.Bytes += c.evicted[i].bytes
		s.mu.Unlock()
	}
	slices.SortFunc(sites, func(a, b site) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(b.lines, a.lines),
			cmp.Compare(a.key.pc, b.key.pc), cmp.Compare(a.key.message, b.key.message))
	})
	if n < 0 || n > len(sites) {
		n = len(sites)
	}
	for _, s := range sites[n:] {
		rep.Other.Lines += s.lines
		rep.Other.Bytes += s.bytes
	}
	rep.Lines, rep.Bytes = rep.Other.Lines, rep.Other.Bytes
	rep.Sites = make([]SiteCount, n)
	for i, s := range sites[:n] {
		rep.Sites[i] = siteCount(s.key.pc, &s.usage)
		rep.Lines += s.lines
		rep.Bytes += s.bytes
	}
	for i := range rep.Sites {
		rep.Sites[i].Share = share(rep.Sites[i].Bytes, rep.Bytes)
	}
	rep.Other.Share = share(rep.Other.Bytes, rep.Bytes)
	return rep
}

func siteCount(pc uintptr, u *usage) SiteCount {
	c := SiteCount{Lines: u.lines, Bytes: u.bytes, Message: u.text.unescaped()}
	if pc != 0 {
		f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
		c.Function, c.File, c.Line = f.Function, f.File, f.Line
		if f.Function == "" {
			c.Function = fmt.Sprintf("%#x", pc) // the address is in a plugin, or invalid
		}
	}
	return c
}

func share(part, all uint64) float64 {
	if all == 0 {
		return 0
	}
	return float64(part) / float64(all)
}

// Metrics implements [metrics.Source]. Counts per call site are omitted: they
// would be too many series for a monitoring system.
func (c *SiteCounter) Metrics() iter.Seq[metrics.Metric] { return metricsOf(c) }

func (c *SiteCounter) own(l *metrics.Samples) {
	r := c.Report(0)
	l.Counter("nib_sites_lines_total", "Lines counted by call site.", float64(r.Lines))
	l.Counter("nib_sites_bytes_total", "Bytes of lines counted by call site.", float64(r.Bytes))
}
