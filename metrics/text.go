// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
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
	var b strings.Builder
	families, err := collect(sources)
	if open {
		families = separate(families)
	}
	for _, f := range families {
		f.write(&b, open)
	}
	if open {
		b.WriteString("# EOF\n")
	}
	_, writeErr := io.WriteString(w, b.String())
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
	series map[string]float64
}

// collect returns the families of all sources, sorted by name.
func collect(sources []Source) ([]*family, error) {
	byName := map[string]*family{}
	var errs []error
	for _, s := range sources {
		if s != nil {
			errs = append(errs, collectFrom(s, byName))
		}
	}
	families := make([]*family, 0, len(byName))
	for _, f := range byName {
		families = append(families, f)
	}
	slices.SortFunc(families, func(a, b *family) int { return cmp.Compare(a.Name, b.Name) })
	return families, errors.Join(errs...)
}

func collectFrom(s Source, byName map[string]*family) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("nib/metrics: a source of type %T panicked: %v", s, p)
		}
	}()
	for m := range s.Metrics() {
		m.Name = validName(m.Name, m.Kind)
		f := byName[m.Name]
		if f == nil {
			f = &family{Metric: m, series: map[string]float64{}}
			byName[m.Name] = f
		}
		f.series[labelText(m.Labels)] += m.Value
	}
	return nil
}

// write writes one family. In OpenMetrics the family of a counter has no
// _total.
func (f *family) write(b *strings.Builder, open bool) {
	name := f.Name
	if open {
		name = strings.TrimSuffix(name, totalSuffix)
	}
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, escape(f.Help, open), name, f.Kind)
	if open && f.Unit != "" && strings.HasSuffix(name, "_"+f.Unit) {
		fmt.Fprintf(b, "# UNIT %s %s\n", name, f.Unit)
	}
	all := make([]string, 0, len(f.series))
	for labels := range f.series {
		all = append(all, labels)
	}
	slices.Sort(all)
	for _, labels := range all {
		b.WriteString(f.Name)
		if labels != "" {
			b.WriteString("{" + labels + "}")
		}
		b.WriteString(" " + number(f.series[labels]) + "\n")
	}
}

// number formats whole numbers without an exponent, as far as a float64 is
// exact.
func number(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	case v == math.Trunc(v) && math.Abs(v) < 1<<53:
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// labelText returns `a="b",c="d"`, sorted by name. Of equal names the first
// counts. A label without a value is left out, because to Prometheus that is
// the same series: with both, it would get one sample twice.
func labelText(labels []Label) string {
	sorted := slices.Clone(labels)
	for i := range sorted {
		sorted[i].Name = clean(sorted[i].Name, "")
	}
	slices.SortStableFunc(sorted, func(a, b Label) int { return cmp.Compare(a.Name, b.Name) })
	sorted = slices.CompactFunc(sorted, func(a, b Label) bool { return a.Name == b.Name })
	sorted = slices.DeleteFunc(sorted, func(l Label) bool { return l.Value == "" })
	var b strings.Builder
	for i, l := range sorted {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(l.Name + `="` + escape(l.Value, true) + `"`)
	}
	return b.String()
}

const totalSuffix = "_total"

// validName returns name as Prometheus and OpenMetrics accept it: a counter
// ends in _total, and nothing else does. Without _total it is not empty, since
// that is the name of a counter's family in OpenMetrics.
func validName(name string, k Kind) string {
	name = clean(name, ":")
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
	name = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || strings.ContainsRune(allowed, c) {
			return c
		}
		return '_'
	}, name)
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return "_" + name
	}
	return name
}

var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	quoteEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// escape escapes a help text or, with quotes, the value of a label.
func escape(s string, quotes bool) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if quotes {
		return quoteEscapes.Replace(s)
	}
	return helpEscapes.Replace(s)
}
