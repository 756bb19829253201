// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"errors"
	"maps"
	"testing"

	"github.com/nib-log/nib/metrics"
	"github.com/nib-log/nib/pool"
)

func TestMetricsAreTheStats(t *testing.T) {
	p := pool.New[int](nil, pool.WithLimit(5))
	use := func(get func(), put func(), trim func(int)) {
		get()
		for range 9 {
			put()
		}
		get()
		trim(2)
	}
	use(func() { p.Get() }, func() { p.Put(1) }, p.Trim)

	e := pool.NewErasable(func() *faulty { return new(faulty) }, pool.WithLimit(5))
	use(func() { e.Get() }, func() { e.Put(new(faulty)) }, e.Trim)
	e.Put(&faulty{errors.New("no")})

	b := &pool.Buffers{}
	for _, n := range []int{100, 100, 64 << 20} {
		buf := b.Get(n)
		buf.Grow(n + 1)
		buf.B = make([]byte, 1)
		b.Put(buf)
	}
	b.Get(64 << 20)
	held := []*pool.Buffer{b.Get(5000), b.Get(5000)}
	b.Put(held[0])
	b.Put(held[1])
	b.Trim(1)
	if !pool.Tracking {
		b.Put(held[0])
	}
	bs := b.Stats()

	stats := func(s pool.Stats) map[string]float64 {
		return map[string]float64{
			"nib_pool_gets_total": float64(s.Gets), "nib_pool_hits_total": float64(s.Hits), "nib_pool_puts_total": float64(s.Puts),
			"nib_pool_dropped_total": float64(s.Dropped), "nib_pool_trimmed_total": float64(s.Trimmed), "nib_pool_idle_values": float64(s.Len),
		}
	}
	ofErasable, ofBuffers := stats(e.Stats()), stats(bs.Stats)
	ofErasable["nib_pool_erase_failures_total"] = 1
	maps.Copy(ofBuffers, map[string]float64{
		"nib_pool_idle_bytes": float64(bs.Bytes), "nib_pool_oversize_gets_total": float64(bs.Oversize), "nib_pool_grown_total": float64(bs.Grown),
		"nib_pool_outgrown_total": float64(bs.Outgrown), "nib_pool_misused_total": float64(bs.Misused),
	})
	for _, c := range []struct {
		source metrics.Source
		want   map[string]float64
	}{{p, stats(p.Stats())}, {e, ofErasable}, {b, ofBuffers}} {
		got := map[string]float64{}
		for m := range c.source.Metrics() {
			got[m.Name] = m.Value
		}
		if !maps.Equal(got, c.want) {
			t.Errorf("%T: got %v, want %v", c.source, got, c.want)
		}
	}
}

type faulty struct{ err error }

func (f *faulty) Erase() error { return f.err }
