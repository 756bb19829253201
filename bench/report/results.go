// SPDX-License-Identifier: Apache-2.0

// Package report stores results as text and turns them into the tables of the
// documentation. The same results yield the same bytes.
package report

import (
	"bufio"
	"fmt"
	"io"
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

// Names of the result lines that are not scenarios.
const (
	ServiceName   = "Service"
	LatencySuffix = "Latency" // follows the scenario's name
)

// Results has the results of one run of the benchmark. The text form is the Go
// benchmark format, which benchstat reads too: "key: value" lines, then one
// line per scenario and contestant.
type Results struct {
	Header []Field
	Lines  []Line
}

// A Field is one line of the header. Keys may repeat.
type Field struct{ Key, Value string }

// A Line is the result of one contestant in one scenario.
type Line struct {
	Scenario, Contestant string
	N                    int // operations in a round, calls, starts, requests
	Values               []Value
}

// A Value is a number with its unit and the number of decimals that are stored.
type Value struct {
	Number   float64
	Decimals int
	Unit     string
}

// Add appends a line.
func (r *Results) Add(scenario, contestant string, n int, values ...Value) {
	r.Lines = append(r.Lines, Line{Scenario: scenario, Contestant: contestant, N: n, Values: values})
}

// Get returns a value; ok is false if the contestant did not take part.
func (r *Results) Get(scenario, contestant, unit string) (number float64, ok bool) {
	if r == nil {
		return 0, false
	}
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

// Head returns the values of a header key.
func (r *Results) Head(key string) []string {
	var values []string
	for _, f := range r.Header {
		if f.Key == key {
			values = append(values, f.Value)
		}
	}
	return values
}

// Write writes the text form, aligned.
func (r *Results) Write(w io.Writer) error {
	for _, f := range r.Header {
		if _, err := fmt.Fprintf(w, "%s: %s\n", f.Key, f.Value); err != nil {
			return err
		}
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, l := range r.Lines {
		if i == 0 || l.Scenario != r.Lines[i-1].Scenario {
			if err := tw.Flush(); err != nil {
				return err
			}
			fmt.Fprintln(w)
		}
		fmt.Fprintf(tw, "Benchmark%s/%s\t%d", l.Scenario, l.Contestant, l.N)
		for _, v := range l.Values {
			fmt.Fprintf(tw, "\t%s %s", strconv.FormatFloat(v.Number, 'f', v.Decimals, 64), v.Unit)
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
}

// Read reads the text form.
func Read(r io.Reader) (*Results, error) {
	results := &Results{}
	scanner := bufio.NewScanner(r)
	for number := 1; scanner.Scan(); number++ {
		line := scanner.Text()
		if name, ok := strings.CutPrefix(line, "Benchmark"); ok {
			l, err := parseLine(name)
			if err != nil {
				return nil, fmt.Errorf("results line %d: %w", number, err)
			}
			results.Lines = append(results.Lines, l)
		} else if key, value, ok := strings.Cut(line, ": "); ok {
			results.Header = append(results.Header, Field{Key: key, Value: value})
		} else if line != "" {
			return nil, fmt.Errorf("results line %d: %q is neither a header nor a result", number, line)
		}
	}
	return results, scanner.Err()
}

func parseLine(text string) (Line, error) {
	words := strings.Fields(text)
	if len(words) < 4 || len(words)%2 != 0 {
		return Line{}, fmt.Errorf("%q: want name, count and pairs of value and unit", text)
	}
	scenario, contestant, ok := strings.Cut(words[0], "/")
	if !ok {
		return Line{}, fmt.Errorf("%q: no contestant", words[0])
	}
	n, err := strconv.Atoi(words[1])
	if err != nil {
		return Line{}, err
	}
	l := Line{Scenario: scenario, Contestant: contestant, N: n}
	for i := 2; i < len(words); i += 2 {
		number, err := strconv.ParseFloat(words[i], 64)
		if err != nil {
			return Line{}, err
		}
		_, decimals, _ := strings.Cut(words[i], ".")
		l.Values = append(l.Values, Value{Number: number, Decimals: len(decimals), Unit: words[i+1]})
	}
	return l, nil
}
