// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// A sinkhole accepts everything and allocates nothing.
type sinkhole struct{}

func (sinkhole) Deliver(_ context.Context, batch []nib.Record) (delivery.Result, error) {
	return delivery.Result{Accepted: len(batch)}, nil
}

func TestAllocWriteRecord(t *testing.T) {
	dirs(t, func(t *testing.T, dir string) {
		// All lines fit into one segment.
		s := open(t, dir, sinkhole{}, Config{SegmentSize: 16 << 20, Size: 32 << 20})
		line := record(nib.LevelInfo, 1, 200).Line
		for _, r := range []*nib.Record{
			{Line: line}, {Line: line, Message: line[3:9], Logger: "db", PC: 1}, {Line: line, Message: []byte("elsewhere")},
		} {
			alloctest.Zero(t, func() {
				if err := s.WriteRecord(r); err != nil {
					t.Fatal(err)
				}
			})
		}
	})
}

// TestAllocDropped drops lines because the spool is full or closed.
func TestAllocDropped(t *testing.T) {
	s := open(t, "", &far{do: down}, Config{SegmentSize: segment.MinSize, Size: 2 * segment.MinSize, Drain: time.Nanosecond, tick: time.Hour})
	r := record(nib.LevelInfo, 1, 1000)
	for s.WriteRecord(r) == nil {
	}
	alloctest.Zero(t, func() {
		if err := s.WriteRecord(r); err != errFull {
			t.Fatal(err)
		}
	})
	_ = s.Close() // lines are left
	alloctest.Zero(t, func() {
		if err := s.WriteRecord(r); err != errClosed {
			t.Fatal(err)
		}
	})
}

// BenchmarkWriteRecord writes a line of 200 bytes to a mapped segment that is
// being delivered, and compares it with a write(2) of the line. The two
// alternate, and the results are the minimum and the median of the rounds, to
// exclude other work of the machine.
func BenchmarkWriteRecord(b *testing.B) {
	s := open(b, spoolDir(b), sinkhole{}, Config{SegmentSize: 64 << 20, Size: 1 << 30,
		OnFull: []FullRule{{nib.LevelTrace, ActionBlock, time.Minute}}})
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	must(b, err)
	defer f.Close()
	r := record(nib.LevelInfo, 1, 200)
	const lines = 1000
	var spooled, written []time.Duration
	for b.Loop() {
		for range 10 {
			begin := time.Now()
			for range lines {
				if err := s.WriteRecord(r); err != nil {
					b.Fatal(err)
				}
			}
			spooled = append(spooled, time.Since(begin))
			begin = time.Now()
			for range lines {
				if _, err := f.Write(r.Line); err != nil {
					b.Fatal(err)
				}
			}
			written = append(written, time.Since(begin))
		}
	}
	slices.Sort(spooled)
	slices.Sort(written)
	b.ReportMetric(float64(spooled[0])/lines, "min-ns/line")
	b.ReportMetric(float64(spooled[len(spooled)/2])/lines, "median-ns/line")
	b.ReportMetric(float64(written[0])/lines, "write(2)-min-ns/line")
	b.ReportMetric(float64(written[len(written)/2])/lines, "write(2)-median-ns/line")
}
