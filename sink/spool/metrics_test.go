// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/metrics"
)

// valueOf returns the sum of the series of a name that have all labels.
func valueOf(source metrics.Source, name string, labels ...metrics.Label) (sum float64, series int) {
	for m := range source.Metrics() {
		if m.Name != name || !hasLabels(m.Labels, labels) {
			continue
		}
		sum += m.Value
		series++
	}
	return sum, series
}

func hasLabels(have, want []metrics.Label) bool {
	for _, w := range want {
		found := false
		for _, h := range have {
			found = found || h == w
		}
		if !found {
			return false
		}
	}
	return true
}

func TestMetricsOfTheBacklog(t *testing.T) {
	f := &far{}
	s := open(t, "", f, Config{})
	for n := range 3 {
		must(t, s.WriteRecord(record(nib.LevelWarn, n, 100)))
	}
	must(t, s.Flush(context.Background()))
	want := func(name string, want float64, labels ...metrics.Label) {
		t.Helper()
		if got, series := valueOf(s, name, labels...); got != want || series == 0 {
			t.Errorf("%s %v: got %v in %d series, want %v", name, labels, got, series, want)
		}
	}
	want("nib_spool_lines_total", 3)
	want("nib_spool_delivered_lines_total", 3, metrics.Label{Name: "level", Value: "warn"})
	want("nib_spool_delivered_lines_total", 0, metrics.Label{Name: "level", Value: "info"})
	want("nib_spool_pending_lines", 0)
	want("nib_spool_pending_bytes", 0)
	want("nib_spool_oldest_line_age_seconds", 0)
	want("nib_spool_dropped_lines_total", 0, metrics.Label{Name: "reason", Value: "full"})

	retried, up := make(chan struct{}), make(chan struct{})
	attempts := 0
	f.mu.Lock()
	f.do = func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		if attempts++; attempts == 1 {
			return delivery.Result{}, errors.New("down"), true
		}
		close(retried)
		<-up
		return delivery.Result{Accepted: len(batch)}, nil, true
	}
	f.mu.Unlock()
	r := record(nib.LevelError, 3, 100)
	r.Time = time.Now().Add(-time.Hour).UnixNano()
	must(t, s.WriteRecord(r))
	<-retried
	want("nib_spool_delivery_failures_total", 1)
	want("nib_spool_pending_lines", 1)
	if got, _ := valueOf(s, "nib_spool_oldest_line_age_seconds"); got < 3600 || got > 7200 {
		t.Errorf("the oldest line is %v s old, want 3600", got)
	}
	if got, _ := valueOf(s, "nib_spool_pending_bytes"); got < 100 {
		t.Errorf("got %v pending bytes, want 100 at least", got)
	}
	close(up)
	must(t, s.Flush(context.Background()))
	want("nib_spool_oldest_line_age_seconds", 0)
	want("nib_spool_delivered_lines_total", 4)
}
