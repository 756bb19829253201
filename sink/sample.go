// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"errors"
	"fmt"
	"time"

	"github.com/nib-log/nib"
)

// A Share selects which lines with the same message and level are kept in a
// tick: the First ones, and then each Every-th. If Every is 0, only the First
// ones are kept. The zero Share keeps all lines.
type Share struct {
	First, Every int
}

// SampleConfig configures [Sample]. The zero value keeps all lines.
type SampleConfig struct {
	Tick   time.Duration // defaults to 1 s
	Keep   Share
	KeepAt map[nib.Level]Share // replaces Keep at a named level; others count as the next lower one

	// MaxMessages is the number of pairs of message and level that are tracked,
	// rounded up to a power of two. Each takes 128 bytes. Defaults to 4096.
	MaxMessages int
	// Layout is the layout of the count lines; it should be the loggers'.
	Layout nib.Layout
	// Now replaces the clock. It must be safe for concurrent use.
	Now func() time.Time
}

// Validate returns every error in c, joined, or nil.
func (c SampleConfig) Validate() error {
	errs := []error{c.Keep.validate("Keep")}
	for l, s := range c.KeepAt {
		errs = append(errs, s.validate("KeepAt "+l.String()), validLevel("KeepAt", l))
	}
	if c.Tick < 0 {
		errs = append(errs, fmt.Errorf("nib/sink: Tick is %v, want 0 or more", c.Tick))
	}
	return errors.Join(append(errs, validSize("MaxMessages", c.MaxMessages))...)
}

func (s Share) validate(of string) error {
	if s.First < 0 || s.Every < 0 {
		return fmt.Errorf("nib/sink: %s is %+v, want 0 or more in both", of, s)
	}
	return nil
}

// Sample returns a sink that writes to s a share of similar lines: those with
// the same message and level or, without a message, the same call site.
// Suppressed lines are reported as by [Limit], by count lines with the
// beginning of the message in a field "of".
//
// The tick of a message starts with its first line after the previous tick.
// Messages are identified by a 64-bit hash with a random seed; in the unlikely
// case of a collision they share their ticks. They are tracked in sets of
// eight: a new message evicts the least recently used one of its set, which
// starts a new tick when it comes back. So messages that contain values are
// rarely suppressed: use [Limit] with call sites for these.
//
// Suppressing a line is not an error. Sample panics if s is nil or c is
// invalid. The sink is safe for concurrent use, and does not allocate per line.
func Sample(s nib.Sink, c SampleConfig) *Suppressor {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	r := &shares{tick: min(int64(c.Tick), longestTick)}
	if r.tick == 0 {
		r.tick = int64(time.Second)
	}
	for i := range r.keep {
		keep, ok := c.KeepAt[levelAt(i)]
		if !ok {
			keep = c.Keep
		}
		r.keep[i] = keep
	}
	messages := c.MaxMessages
	if messages == 0 {
		messages = 4096
	}
	p := new(Suppressor)
	p.start("Sample", "sample", s, r, messages, c.Layout, c.Now)
	p.key = func(r *nib.Record) key {
		if r.Message == nil {
			return p.sites.site(r)
		}
		return p.sites.message(r)
	}
	return p
}

// longestTick is 73 years: no time plus a tick overflows.
const longestTick = 1 << 61

// shares is the rule of a Sample. It uses the field at of an account for the
// end of the tick, and n for the lines in it.
type shares struct {
	tick int64
	keep [levels]Share
}

func (s *shares) bySite(level int) bool { return s.keep[level] != Share{} }

func (s *shares) decide(a *account, level int, now int64) decision {
	if a == nil {
		return pass
	}
	if now >= a.at || a.at-now > s.tick { // the tick is over, or the clock was set back
		a.at, a.n = now+s.tick, 0
	}
	a.n++
	keep := s.keep[level]
	first, every := uint64(keep.First), uint64(keep.Every)
	if a.n <= first || every > 0 && (a.n-first)%every == 0 {
		return pass
	}
	return notSite
}
