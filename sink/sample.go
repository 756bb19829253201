// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"errors"
	"fmt"
	"time"

	"github.com/nib-log/nib"
)

// A Share is which lines are kept of those with one message and level in one
// tick: the First ones, and then each Every-th; none after the First ones if Every
// is 0. The zero Share keeps all.
type Share struct {
	First, Every int
}

// SampleConfig sets up a [Sample]. The zero value keeps all lines.
type SampleConfig struct {
	Tick   time.Duration // 1 s by default
	Keep   Share
	KeepAt map[nib.Level]Share // in place of Keep at a named level; others count as the next lower one

	// MaxMessages is how many pairs of message and level are remembered, rounded
	// up to a power of two; 4096 by default. Each takes 128 bytes.
	MaxMessages int
	// Layout is that of the count lines; it should be the loggers'.
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
		errs = append(errs, fmt.Errorf("nib/sink: Tick is %v", c.Tick))
	}
	return errors.Join(append(errs, validSize("MaxMessages", c.MaxMessages))...)
}

func (s Share) validate(of string) error {
	if s.First < 0 || s.Every < 0 {
		return fmt.Errorf("nib/sink: %s is %+v", of, s)
	}
	return nil
}

// Sample makes a sink that hands on to s a share of the lines that say the same.
// Lines say the same if they have the same message and level; without a message,
// the same call site. What is suppressed is announced as [Limit] does, by count
// lines that have the beginning of the message in a field "of".
//
// A tick of a message begins with the first line of it after the last tick.
// Messages are told apart by a hash of 64 bits with a random seed: two that have
// the same one, which is not to be expected, share their ticks. They are
// remembered in sets of eight; the one of a set that has been quiet for the
// longest gives way to a new one, and begins a new tick when it comes back. So
// messages that have values in them are hardly sampled: give them a call site and
// use [Limit].
//
// A suppressed line is success for the logger. It panics if s is nil or c is not
// valid. Any number of goroutines may write at the same time. 0 allocs per line.
func Sample(s nib.Sink, c SampleConfig) *Suppressor {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	r := &shares{tick: int64(c.Tick)}
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

// shares is the rule of a Sample. It uses the field at of an account for the end
// of the tick, and n for the lines in it.
type shares struct {
	tick int64
	keep [levels]Share
}

func (s *shares) bySite(level int) bool { return s.keep[level] != Share{} }

func (s *shares) judge(a *account, level int, now int64) verdict {
	if a == nil {
		return pass
	}
	if now >= a.at || a.at-now > s.tick { // or the clock was set back
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
