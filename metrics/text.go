// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// WritePrometheus writes the metrics of all sources in the text format of
// Prometheus, version 0.0.4, in one call of Write. If a source panics, its
// metrics before the panic and the other sources' are written, and the error
// has the panic value. The content type is "text/plain; version=0.0.4;
// charset=utf-8".
func WritePrometheus(w io.Writer, sources ...Source) error { return write(w, false, sources) }

// WriteOpenMetrics writes the metrics in the format OpenMetrics 1.0, whose
// content type is "application/openmetrics-text; version=1.0.0; charset=utf-8".
// A gauge x beside a counter x_total is written as x_now, since the counter's
// family has the name x there.
func WriteOpenMetrics(w io.Writer, sources ...Source) error { return write(w, true, sources) }

func write(w io.Writer, open bool, sources []Source) error {
	families, err := collect(sources)
	if open {
		families = separate(families)
	}
	const usual = 384 // bytes of a family
	text := make([]byte, 0, usual*len(families))
	for _, f := range families {
		text = f.append(text, open)
	}
	if open {
		text = append(text, "# EOF\n"...)
	}
	_, writeErr := w.Write(text)
	return errors.Join(err, writeErr)
}

// separate renames the gauges that have the name of a counter's family, which
// is without _total in OpenMetrics.
func separate(families []*family) []*family {
	taken := map[string]bool{}
	for _, f := range families {
		taken[f.Name] = true
	}
	for _, f := range families {
		if f.Kind == KindGauge && taken[f.Name+totalSuffix] {
			for taken[f.Name] || taken[f.Name+totalSuffix] {
				f.Name += "_now"
			}
			taken[f.Name] = true
		}
	}
	return families
}

// A family is all series of one name.
type family struct {
	Metric // the metric of its first series
	series []series
}

// A series is a value and its labels, as text.
type series struct {
	labels []byte
	value  float64
}

// A collection is the families of several sources, sorted by name.
type collection struct {
	families []*family
	labels   []byte // the labels of all series: a string for each would be a malloc
}

// collect returns the families of all sources, sorted by name.
func collect(sources []Source) ([]*family, error) {
	c := collection{make([]*family, 0, 16), make([]byte, 0, 1024)} // usually enough
	var errs []error
	for _, s := range sources {
		if s != nil {
			errs = append(errs, c.add(s))
		}
	}
	for _, f := range c.families {
		f.merge()
	}
	return c.families, errors.Join(errs...)
}

func (c *collection) add(s Source) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("nib/metrics: a source of type %T panicked: %v", s, p)
		}
	}()
	for m := range s.Metrics() {
		m.Name = validName(m.Name, m.Kind)
		i, known := slices.BinarySearchFunc(c.families, m.Name,
			func(f *family, name string) int { return cmp.Compare(f.Name, name) })
		if !known {
			f := &family{Metric: m, series: make([]series, 0, 8)} // one for each level
			c.families = slices.Insert(c.families, i, f)
		}
		f, from := c.families[i], len(c.labels)
		c.labels = appendLabels(c.labels, m.Labels)
		f.series = append(f.series, series{c.labels[from:], m.Value})
	}
	return nil
}

// merge sorts the series by their labels, and adds up those with the same.
func (f *family) merge() {
	slices.SortStableFunc(f.series, func(a, b series) int {
		return bytes.Compare(a.labels, b.labels)
	})
	n := 0
	for _, s := range f.series[1:] {
		if last := &f.series[n]; bytes.Equal(s.labels, last.labels) {
			last.value += s.value
			continue
		}
		n++
		f.series[n] = s
	}
	f.series = f.series[:n+1]
}

// append appends one family to b. In OpenMetrics the family of a counter has no
// _total.
func (f *family) append(b []byte, open bool) []byte {
	name := f.Name
	if open {
		name = strings.TrimSuffix(name, totalSuffix)
	}
	b = append(append(append(b, "# HELP "...), name...), ' ')
	b = append(appendEscaped(b, f.Help, open), "\n# TYPE "...)
	kind := "counter"
	if f.Kind == KindGauge {
		kind = "gauge"
	}
	b = append(append(append(append(b, name...), ' '), kind...), '\n')
	if open && f.Unit != "" && strings.HasSuffix(name, "_"+f.Unit) {
		b = append(append(append(b, "# UNIT "...), name...), ' ')
		b = append(append(b, f.Unit...), '\n')
	}
	for _, s := range f.series {
		b = append(b, f.Name...)
		if len(s.labels) > 0 {
			b = append(append(append(b, '{'), s.labels...), '}')
		}
		b = append(appendNumber(append(b, ' '), s.value), '\n')
	}
	return b
}

// appendNumber formats whole numbers without an exponent, as far as a float64
// is exact.
func appendNumber(b []byte, v float64) []byte {
	switch {
	case math.IsInf(v, 1):
		return append(b, "+Inf"...)
	case math.IsInf(v, -1):
		return append(b, "-Inf"...)
	case v == math.Trunc(v) && math.Abs(v) < 1<<53:
		return strconv.AppendInt(b, int64(v), 10)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// appendLabels appends `a="b",c="d"`, sorted by name. Of equal names the first
// counts. A label without a value is left out, because to Prometheus that is
// the same series: with both, it would get one sample twice.
func appendLabels(b []byte, labels []Label) []byte {
	var few [8]Label
	sorted := few[:0]
	for _, l := range labels {
		l.Name = clean(l.Name, "")
		i := len(sorted)
		for i > 0 && l.Name < sorted[i-1].Name {
			i--
		}
		if i == 0 || l.Name != sorted[i-1].Name {
			sorted = slices.Insert(sorted, i, l)
		}
	}
	from := len(b)
	for _, l := range sorted {
		if l.Value == "" {
			continue
		}
		if len(b) > from {
			b = append(b, ',')
		}
		b = append(appendEscaped(append(append(b, l.Name...), `="`...), l.Value, true), '"')
	}
	return b
}

const totalSuffix = "_total"

// validName returns name as Prometheus and OpenMetrics accept it: a counter
// ends in _total, and nothing else does. Without _total it is not empty, since
// that is the name of a counter's family in OpenMetrics.
func validName(name string, k Kind) string {
	name = clean(name, ":")
	base := strings.TrimSuffix(name, totalSuffix)
	if base != "" && !strings.HasSuffix(base, totalSuffix) &&
		(len(base) < len(name)) == (k == KindCounter) {
		return name
	}
	for strings.HasSuffix(name, totalSuffix) {
		name = strings.TrimSuffix(name, totalSuffix)
	}
	if name == "" {
		name = "_"
	}
	if k == KindCounter {
		name += totalSuffix
	}
	return name
}

// clean replaces all characters but letters, digits, _ and those in allowed.
// The result does not begin with a digit.
func clean(name, allowed string) string {
	if isClean(name, allowed) {
		return name
	}
	name = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' ||
			strings.ContainsRune(allowed, c) {
			return c
		}
		return '_'
	}, name)
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return "_" + name
	}
	return name
}

// isClean reports whether clean returns name unchanged.
func isClean(name, allowed string) bool {
	for i := range len(name) {
		c := name[i]
		if c|0x20-'a' >= 26 && c-'0' >= 10 && c != '_' && strings.IndexByte(allowed, c) < 0 {
			return false
		}
	}
	return name != "" && name[0]-'0' >= 10
}

// appendEscaped appends a help text or, with quotes, the value of a label.
func appendEscaped(b []byte, s string, quotes bool) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\\', c == '"' && quotes:
			b = append(b, '\\', c)
		default:
			b = append(b, c)
		}
	}
	return b
}
