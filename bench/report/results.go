// SPDX-License-Identifier: Apache-2.0

// Package report stores results as text and turns them into the tables of the
// documentation. The same results yield the same bytes.
package report

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Units of the values in a result line.
const (
	UnitTime     = "ns/op"        // the fastest round
	UnitMedian   = "median-ns/op" // the median round
	UnitMallocs  = "mallocs/op"
	UnitBytes    = "B/op"
	UnitP50      = "p50-ns"
	UnitP99      = "p99-ns"
	UnitP999     = "p99.9-ns"
	UnitMax      = "max-ns"
	UnitRequests = "req/s"
	UnitCPU      = "cpu-us/req"
)

// decimals are how many decimals of the values of a unit are stored, if any.
var decimals = map[string]int{UnitTime: 1, UnitMedian: 1, UnitMallocs: 3, UnitBytes: 1, UnitCPU: 2}

// Names of the result lines that are not scenarios.
const (
	ServiceName   = "Service"
	LatencySuffix = "Latency" // follows the scenario's name
)

// Results has the results of one run of the benchmark. The text form is the Go
// benchmark format, which benchstat reads too: "key: value" lines, then one
// line per scenario and contestant.
type Results struct {
	Key    string   // the model of processor, if they were stored: Processor.Key
	Header []string // "key: value"; keys may repeat
	Lines  []Line
}

// A Line is the result of one contestant in one scenario.
type Line struct {
	Scenario, Contestant string
	N                    int // operations in a round, calls, starts, requests
	Values               []Value
}

// A Value is a number with its unit.
type Value struct {
	Number float64
	Unit   string
}

// Add appends a line.
func (r *Results) Add(scenario, contestant string, n int, values ...Value) {
	r.Lines = append(r.Lines,
		Line{Scenario: scenario, Contestant: contestant, N: n, Values: values})
}

// Get returns a value; ok is false if the contestant did not take part.
func (r *Results) Get(scenario, contestant, unit string) (number float64, ok bool) {
	for _, l := range r.Lines {
		if l.Scenario == scenario && l.Contestant == contestant {
			for _, v := range l.Values {
				if v.Unit == unit {
					return v.Number, true
				}
			}
		}
	}
	return 0, false
}

// Head returns the values of a key in the header, joined.
func (r *Results) Head(key string) string {
	var values []string
	for _, line := range r.Header {
		if value, ok := strings.CutPrefix(line, key+": "); ok {
			values = append(values, value)
		}
	}
	return strings.Join(values, ", ")
}

// Text returns the text form, aligned.
func (r *Results) Text() []byte {
	var text bytes.Buffer
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, line := range r.Header {
		fmt.Fprintln(w, line)
	}
	for i, l := range r.Lines {
		if i == 0 || l.Scenario != r.Lines[i-1].Scenario {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "Benchmark%s/%s\t%d", l.Scenario, l.Contestant, l.N)
		for _, v := range l.Values {
			fmt.Fprintf(w, "\t%.*f %s", decimals[v.Unit], v.Number, v.Unit)
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // a bytes.Buffer takes everything
	return text.Bytes()
}

// Parse reads the text form.
func Parse(text []byte) (*Results, error) {
	r := &Results{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if result, ok := strings.CutPrefix(line, "Benchmark"); ok {
			l, err := parseLine(strings.Fields(result))
			if err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
			r.Lines = append(r.Lines, l)
		} else if strings.Contains(line, ": ") {
			r.Header = append(r.Header, line)
		} else if line != "" {
			return nil, fmt.Errorf("%q is neither a header nor a result", line)
		}
	}
	return r, nil
}

func parseLine(words []string) (l Line, err error) {
	if len(words) < 4 || len(words)%2 != 0 || !strings.Contains(words[0], "/") {
		return l, errors.New("want scenario/contestant, a count, and pairs of value and unit")
	}
	l.Scenario, l.Contestant, _ = strings.Cut(words[0], "/")
	l.N, err = strconv.Atoi(words[1])
	for i := 2; i < len(words); i += 2 {
		number, wrong := strconv.ParseFloat(words[i], 64)
		err = cmp.Or(err, wrong)
		l.Values = append(l.Values, Value{Number: number, Unit: words[i+1]})
	}
	return l, err
}

// Load reads the stored results of a set below dir, which has a directory for
// each model of processor. The first ones measured the newest commit, and the
// documents show them. Without any results the error is fs.ErrNotExist.
func Load(dir, set string) (all []*Results, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*", set+".txt"))
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s, set %q: %w", dir, set, cmp.Or(err, fs.ErrNotExist))
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		r, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		r.Key = filepath.Base(filepath.Dir(path))
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b *Results) int {
		return strings.Compare(b.Head("committed"), a.Head("committed"))
	})
	return all, nil
}
