// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/nib-log/nib/cmd/nib/logs"
)

// A comparison is how the messages in a range of time differ from the messages
// of all other selected lines.
type comparison struct {
	Lines uint64      `json:"lines"` // in the range
	Rest  uint64      `json:"rest"`  // other ones
	New   differences `json:"new"`
	Gone  differences `json:"gone"`
	More  differences `json:"more"`
	Less  differences `json:"less"`
}

// differences are the clearest ones of a kind.
type differences struct {
	Messages []difference `json:"messages"`
	LeftOut  int          `json:"leftOut"`
}

type difference struct {
	Message string  `json:"message"` // a star stands for the parts that differ
	Shown   string  `json:"shown"`
	Rate    float64 `json:"rate"` // lines for each minute
	Rest    float64 `json:"rest"`
}

// getComparison reads all lines, twice.
func getComparison(r request) (any, error) {
	c, err := selectionOf(r.values)
	if err != nil || c.from == c.to {
		return nil, errors.Join(err, &badRequest{"there is no range of time to compare"})
	}
	sum, err := r.summarize(c, "time >= %q and time < %q")
	if err != nil {
		return nil, err
	}
	rest, err := r.summarize(c, "time < %q or time >= %q")
	if err != nil {
		return nil, err
	}
	from, to := time.UnixMilli(c.from), time.UnixMilli(c.to)
	if rest.First.Before(from) && rest.Last.After(to) {
		rest.Pause = to.Sub(from)
	}
	a := comparison{Lines: sum.Counts.Matched, Rest: rest.Counts.Matched}
	appeared, gone, changed := sum.Compare(rest)
	var more, less []logs.Difference
	for _, d := range changed {
		if d.Rate > d.Other {
			more = append(more, d)
		} else {
			less = append(less, d)
		}
	}
	a.New, a.Gone, a.More, a.Less = top(appeared), top(gone), top(more), top(less)
	return a, nil
}

// summarize counts the lines of a selection by message, with a condition on its
// range of time.
func (r request) summarize(c selection, condition string) (*logs.Summary, error) {
	query, err := c.and(condition, time.Now())
	if err != nil {
		return nil, err
	}
	doc := r.session.doc
	end, _ := doc.state()
	source := logs.Source{Name: doc.path, Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(doc, 0, end)), nil
	}}
	s := logs.Selection{Query: query, Zone: time.Local, Keys: doc.keys}
	return logs.Summarize(r.Context(), []logs.Source{source}, s, nil, nil)
}

func top(list []logs.Difference) (d differences) {
	d.Messages = []difference{}
	for _, m := range list[:min(len(list), topValues)] {
		d.Messages = append(d.Messages, difference{
			m.Message, visible([]byte(m.Message)), m.Rate, m.Other,
		})
	}
	d.LeftOut = len(list) - len(d.Messages)
	return d
}
