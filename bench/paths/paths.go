// SPDX-License-Identifier: Apache-2.0

// Package paths measures what stands around a log call: request events, edits
// of the line, combinators of sinks, and views. Each row has a price: the work
// that the path cannot avoid, measured in the same rounds.
package paths

import (
	"io"
	"slices"

	"github.com/nib-log/nib/bench/measure"
)

// Set returns the set of the public paths.
func Set() measure.Set {
	table := measure.Table{Title: "Public paths, ns"}
	rows := append(slices.Concat(events(), fields(), edits(), combinators(), views()), scrape())
	for _, r := range rows {
		table.Scenarios = append(table.Scenarios, r.scenario())
	}
	return measure.Set{
		Name: "paths", Path: "docs/benchmarks.md",
		Note: "*price* is the work that a path cannot avoid; its parts are measured one after " +
			"the other, in turns with the path. Lines are written to `io.Discard` or " +
			"`sink.Discard`. *line* is a line of twelve fields, or of six where it is called " +
			"short; *copy* is a copy of its bytes, and *look* a look at each of them, by a " +
			"table. Rows are sorted by the ratio.",
		Modules: []measure.Module{{Name: "zerolog", Path: "github.com/rs/zerolog"}},
		Tables:  []measure.Table{table},
	}
}

// Price is the contestant that the ratios refer to.
const Price = "price"

// A row is a path and its price.
type row struct {
	name, title string
	price       string // what the price is
	want        string // a part of what the path writes; "" if it writes nothing
	path        func(w io.Writer) func(n int)
	parts       parts // of the price
	hlog        func(w io.Writer) func(n int)
}

func (r *row) scenario() measure.Scenario {
	x := measure.Scenario{Name: r.name, Title: r.title, Price: r.price, Versus: Price}
	x.Same = func(c *measure.Contestant, text []byte) error {
		if c.Name == Price {
			return nil
		}
		return measure.Part(r.want)(c, text)
	}
	add := func(name string, open func(w io.Writer) func(n int)) {
		x.Contestants = append(x.Contestants, measure.Contestant{Name: name,
			New: func(p measure.Place) measure.Run { return measure.Run{Do: open(p.W)} }})
	}
	add("nib", r.path)
	add(Price, func(io.Writer) func(n int) {
		return func(n int) {
			for _, do := range r.parts {
				do(n)
			}
		}
	})
	if r.hlog != nil {
		add("hlog", r.hlog)
	}
	return x
}
