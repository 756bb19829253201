// SPDX-License-Identifier: Apache-2.0

// Package sampling has samplers for [nib.WithSampler]: they decide which events
// are made at all, before any field is encoded.
//
//	func newLogger(w io.Writer) *nib.Logger {
//		// 1,000 lines of level info in each second, and one in a hundred of the rest.
//		info := sampling.Burst(1000, time.Second, sampling.Random(0.01))
//
//		levels := sampling.ByLevel(map[nib.Level]nib.Sampler{
//			nib.LevelDebug: sampling.Every(100),
//			nib.LevelInfo:  info,
//		})
//		return nib.New(w, nib.WithSampler(levels))
//	}
//
// Samplers do not allocate, take no lock, and may be shared by loggers and
// goroutines. They count lines, whatever these contain; sink.Limit and
// sink.Sample suppress lines by call site and by message, and log how many.
package sampling

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/contract"
)

type traits = contract.TraitSet

// own are the traits of samplers that call no code of the program.
var own = contract.TraitsFor(nil, contract.NeverLogs)

// Every returns a sampler that keeps the first event and then every n-th one.
// It keeps all events if n is less than 2.
func Every(n int) nib.Sampler {
	s := &every{traits: own, most: math.MaxUint64}
	if n > 1 {
		s.most /= uint64(n)
		s.twos = bits.TrailingZeros64(uint64(n))
		odd := uint64(n) >> s.twos
		s.inverse = odd // modulo 8; each step doubles the number of correct bits
		for range 5 {
			s.inverse *= 2 - odd*s.inverse
		}
	}
	return s
}

// An every does not divide, which takes longer than the rest. A number is a
// multiple of n = odd<<twos if its product with the inverse of odd, modulo
// 1<<64, rotated by twos, is at most most.
type every struct {
	traits
	inverse, most uint64
	twos          int
	count         atomic.Uint64
}

func (s *every) Sample(nib.Level) bool {
	return bits.RotateLeft64((s.count.Add(1)-1)*s.inverse, -s.twos) <= s.most
}

// Random returns a sampler that keeps each event with probability p.
func Random(p float64) nib.Sampler { return random{own, p} }

type random struct {
	traits
	p float64
}

func (s random) Sample(nib.Level) bool { return rand.Float64() < s.p }

// Burst returns a sampler that keeps the first n events of each period. It
// passes the other events of a period to then, and drops them if then is nil.
// The first period begins with the call of Burst. Burst panics if period is not
// positive.
func Burst(n int, period time.Duration, then nib.Sampler) nib.Sampler {
	if period <= 0 {
		panic("nib/sampling: Burst: the period must be positive, such as time.Second")
	}
	s := &burst{start: time.Now(), period: period, then: then}
	s.n = min(uint64(max(n, 0)), math.MaxUint32)
	if then == nil || contract.TraitsOf(then)&contract.NeverLogs != 0 {
		s.traits = own
	}
	return s
}

type burst struct {
	traits
	n      uint64
	start  time.Time
	period time.Duration
	then   nib.Sampler
	state  atomic.Uint64 // number of the period in the upper half, events kept in it in the lower
}

// maxLag is the number of periods for which a goroutine may be suspended after
// it has read the clock. A larger difference means another clock, as in a
// testing/synctest bubble.
const maxLag = 1 << 16

func (s *burst) Sample(level nib.Level) bool {
	period := uint32(time.Since(s.start)/s.period + 1)
	for {
		old := s.state.Load()
		kept := old & math.MaxUint32
		if in := uint32(old >> 32); in-period <= maxLag {
			period = in // another goroutine may have read the clock later
		} else {
			kept = 0
		}
		if kept >= s.n {
			return s.then != nil && s.then.Sample(level)
		}
		if s.state.CompareAndSwap(old, uint64(period)<<32|(kept+1)) {
			return true
		}
	}
}

// ByLevel returns a sampler that calls the sampler of the event's level. A
// level between two named ones that is not in samplers uses the sampler of the
// lower one: LevelInfo+2 uses the sampler of LevelInfo. All events of a level
// without a sampler are kept. ByLevel copies the map.
func ByLevel(samplers map[nib.Level]nib.Sampler) nib.Sampler {
	s := make(byLevel, len(samplers))
	for level, sampler := range samplers {
		if sampler != nil {
			s[level] = sampler
		}
	}
	return s
}

type byLevel map[nib.Level]nib.Sampler

func (s byLevel) Sample(level nib.Level) bool {
	sampler, ok := s[level]
	if !ok {
		sampler, ok = s[named(level)]
	}
	return !ok || sampler.Sample(level)
}

// named returns the named level that level belongs to.
func named(level nib.Level) nib.Level {
	const step = nib.LevelWarn - nib.LevelInfo
	level = min(max(level, nib.LevelTrace), nib.LevelFatal)
	return nib.LevelTrace + (level-nib.LevelTrace)/step*step
}
