// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/metrics"
)

// A Rate is a limit on lines: Burst at once and PerSecond in the long run. The
// zero Rate is unlimited; one with only a Burst passes that many lines and then
// none.
type Rate struct {
	PerSecond float64
	Burst     int // default: PerSecond, rounded up
}

// LimitConfig configures [Limit]. The zero value limits nothing.
//
// The keys of the maps are named levels. A line of another level, such as
// "info+2", counts as the next lower named one.
type LimitConfig struct {
	PerSite   Rate               // limit for the lines of one call site and level
	PerSiteAt map[nib.Level]Rate // replaces PerSite at a level
	PerLevel  map[nib.Level]Rate // limit for all lines of a level together

	// MaxSites is the number of pairs of call site and level that are tracked,
	// rounded up to a power of two. Each takes 128 bytes. Defaults to 1024.
	MaxSites int
	// Layout is the layout of the count lines; it should be the loggers'.
	Layout nib.Layout
	// Now replaces the clock. It must be safe for concurrent use.
	Now func() time.Time
}

// Validate returns every error in c, joined, or nil.
func (c LimitConfig) Validate() error {
	errs := []error{c.PerSite.validate("PerSite")}
	for l, r := range c.PerSiteAt {
		errs = append(errs, r.validate("PerSiteAt "+l.String()), validLevel("PerSiteAt", l))
	}
	for l, r := range c.PerLevel {
		errs = append(errs, r.validate("PerLevel "+l.String()), validLevel("PerLevel", l))
	}
	return errors.Join(append(errs, validSize("MaxSites", c.MaxSites))...)
}

func (r Rate) validate(of string) error {
	switch {
	case r.PerSecond < 0 || math.IsNaN(r.PerSecond):
		return fmt.Errorf("nib/sink: %s: PerSecond is %v, want 0 or more", of, r.PerSecond)
	case r.Burst < 0:
		return fmt.Errorf("nib/sink: %s: Burst is %d, want 0 or more", of, r.Burst)
	}
	return nil
}

func validLevel(of string, l nib.Level) error {
	if levelAt(levelIndex(l)) != l {
		const text = "nib/sink: %s: level %s has no name of its own, want %s or another named level"
		return fmt.Errorf(text, of, l, levelAt(levelIndex(l)))
	}
	return nil
}

// maxRemembered bounds the tables, which are made at once: 128 MiB.
const maxRemembered = 1 << 20

func validSize(of string, n int) error {
	if n < 0 || n > maxRemembered {
		return fmt.Errorf("nib/sink: %s is %d, want 0 to %d", of, n, maxRemembered)
	}
	return nil
}

// A Suppressor is the sink returned by [Limit] and [Sample].
type Suppressor struct{ suppressor }

var (
	_ nib.Sink         = (*Suppressor)(nil)
	_ delivery.Flusher = (*Suppressor)(nil)
	_ metrics.Source   = (*Suppressor)(nil)
)

// Limit returns a sink that writes to s no more lines than c allows, and counts
// the rest. There is a token bucket for each call site and level, and one for
// each level; a line takes a token of both or of neither. The call site of a
// line is known if the logger has [nib.WithCaller]; otherwise lines with the
// same message count as one site.
//
// Suppressed lines are reported by a count line such as
//
//	{"time":"…","level":"info","caller":"db/pool.go:71","count":412,"message":"lines suppressed"}
//
// at the level of the suppressed lines. It is written before the next line of
// the same site and level that passes, before the next line of any other site
// that passes, at most once a second, and by Flush and Close. Lines without a
// call site are identified by the beginning of their message, in a field "of".
// Lines suppressed by the limit of their level are reported by level only.
//
// Sites are tracked in sets of eight. A new site evicts the least recently used
// one of its set: the pending count moves to the level's, and a returning site
// starts with a full bucket. So a program with more sites than
// MaxSites may write more lines than the limit, never fewer.
//
// Suppressing a line is not an error. Limit panics if s is nil or c is invalid.
// The sink is safe for concurrent use, and allocates only for the text of a
// call site when that is first reported.
func Limit(s nib.Sink, c LimitConfig) *Suppressor {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	r := new(limits)
	for i := range levels {
		site, ok := c.PerSiteAt[levelAt(i)]
		if !ok {
			site = c.PerSite
		}
		r.sites[i] = newBucket(site)
		r.levels[i].bucket = newBucket(c.PerLevel[levelAt(i)])
		r.levels[i].at, r.levels[i].last = math.MinInt64, math.MinInt64
	}
	sites := c.MaxSites
	if sites == 0 {
		sites = 1024
	}
	l := new(Suppressor)
	l.start("Limit", "limit", s, r, sites, c.Layout, c.Now)
	l.key = l.sites.site
	return l
}

// limits is the rule of a Limit.
type limits struct {
	sites  [levels]bucket
	levels [levels]struct {
		bucket
		mu       sync.Mutex // protects at and last
		at, last int64      // math.MinInt64 at first
	}
}

func (l *limits) bySite(level int) bool { return l.sites[level].limited }

func (l *limits) decide(a *account, level int, now int64) decision {
	var before int64
	if a != nil {
		before = a.at
		if !l.sites[level].take(&a.at, now) {
			return notSite
		}
	}
	of := &l.levels[level]
	if !of.limited {
		return pass
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	if of.take(&of.at, steady(&of.last, now)) {
		return pass
	}
	if a != nil {
		a.at = before
	}
	return notInSite
}

// A bucket is a token bucket in the form of the generic cell rate algorithm
// (ITU-T I.371): instead of the tokens it stores the time at which it will be
// full, so its state is a single number, and no refill is needed.
type bucket struct {
	limited  bool
	still    bool  // it never refills: its time stands still
	interval int64 // nanoseconds until the next token
	room     int64 // nanoseconds for all tokens except one
}

func newBucket(r Rate) bucket {
	if r == (Rate{}) || math.IsInf(r.PerSecond, 1) {
		return bucket{}
	}
	burst := int64(r.Burst)
	if burst == 0 {
		burst = int64(min(max(math.Ceil(r.PerSecond), 1), 1<<30))
	}
	if r.PerSecond == 0 {
		return bucket{limited: true, still: true, interval: 1, room: burst - 1}
	}
	longest := float64(1<<61) / float64(burst) // 73 years: practically no rate, and no overflow
	interval := int64(min(max(math.Round(float64(time.Second)/r.PerSecond), 1), longest))
	return bucket{limited: true, interval: interval, room: (burst - 1) * interval}
}

// take takes a token if there is one. full is the time at which the bucket will
// be full.
func (b *bucket) take(full *int64, now int64) bool {
	if b.still {
		now = 0
	}
	at := max(*full, now)
	// No bucket is further from full than an empty one: if this one is, the
	// clock was set back.
	at = min(at, now+b.room+b.interval)
	if at-now > b.room {
		*full = at
		return false
	}
	*full = at + b.interval
	return true
}
