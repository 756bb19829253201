// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"cmp"
	"math"
	"slices"
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
	was := map[string]Group{}
	for _, g := range old.Patterns {
		was[g.Values[0]] = g
	}
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
	for _, g := range s.Patterns {
		message := g.Values[0]
		of, ok := was[message]
		delete(was, message)
		switch {
		case message == others:
		case !ok:
			add(&appeared, g, of, message, g.Sample)
		default:
			add(&changed, g, of, message, g.Sample)
		}
	}
	for message, of := range was {
		if message != others {
			add(&gone, Group{}, of, message, of.Sample)
		}
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

// minutes returns the time between the first and the last line without the
// pause, at least a second.
func (s *Summary) minutes() float64 {
	return max(s.Last.Sub(s.First)-s.Pause, time.Second).Minutes()
}
