// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// A Difference is a message whose rate differs between two summaries.
type Difference struct {
	Message     string
	Lines, Was  uint64  // in the one and in the other
	Rate, Other float64 // lines for each minute
	Sample      string
	score       float64 // standard deviations
}

// The least difference that is reported: a rate of half or double, by three
// standard deviations of counts that vary by chance.
const (
	leastRatio = 2
	leastScore = 3
)

// Compare returns the messages that s has and old does not, those that only old
// has, and those that are more or less frequent; the clearest first. Messages
// beyond the bound of a summary are not compared.
func (s *Summary) Compare(old *Summary) (appeared, gone, changed []Difference) {
	is, was := joinBoth(s.Patterns, old.Patterns)
	now, before := s.minutes(), old.minutes()
	add := func(list *[]Difference, g, of Group, message, sample string) {
		d := Difference{
			Message: message, Lines: g.Count, Was: of.Count, Sample: sample,
			Rate: float64(g.Count) / now, Other: float64(of.Count) / before,
		}
		all := float64(g.Count+of.Count) / (now + before)
		d.score = math.Abs(d.Rate-d.Other) / math.Sqrt(all*(1/now+1/before))
		*list = append(*list, d)
	}
	for key, g := range is {
		of, ok := was[key]
		delete(was, key)
		if ok {
			add(&changed, g, of, g.Values[0], g.Sample)
		} else {
			add(&appeared, g, of, g.Values[0], g.Sample)
		}
	}
	for _, of := range was {
		add(&gone, Group{}, of, of.Values[0], of.Sample)
	}
	changed = slices.DeleteFunc(changed, func(d Difference) bool {
		return d.score < leastScore || d.Rate < leastRatio*d.Other && d.Other < leastRatio*d.Rate
	})
	for _, list := range [][]Difference{appeared, gone, changed} {
		slices.SortFunc(list, func(a, b Difference) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.Message, b.Message))
		})
	}
	return appeared, gone, changed
}

// joinBoth returns patterns by the keys that they have when all are joined.
func joinBoth(a, b []Group) (ofA, ofB map[string]Group) {
	var keys []string
	for _, g := range slices.Concat(a, b) {
		keys = append(keys, g.key)
	}
	joined := joinPatterns(keys)
	byKey := func(list []Group) map[string]Group {
		m := map[string]Group{}
		for _, g := range list {
			if g.key == others {
				continue
			}
			key := joined[g.key]
			of := m[key]
			if of.Count == 0 {
				message := strings.ReplaceAll(key, varying, "*")
				of = Group{Values: []string{message}, Sample: g.Sample}
			}
			of.Count += g.Count
			m[key] = of
		}
		return m
	}
	return byKey(a), byKey(b)
}

// minutes returns the time between the first and the last line without the
// pause, at least a second.
func (s *Summary) minutes() float64 {
	return max(s.Last.Sub(s.First)-s.Pause, time.Second).Minutes()
}
