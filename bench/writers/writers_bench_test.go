// SPDX-License-Identifier: Apache-2.0

package writers

import (
	"os"
	"testing"

	"github.com/nib-log/nib/bench/child"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/sink"
	"github.com/nib-log/nib/sink/stdout"
)

// BenchmarkWriter compares a logger that writes through a Writer with the same
// logger on the file itself. Both take turns, and the minimum of the
// rounds counts.
func BenchmarkWriter(b *testing.B) {
	for _, target := range []struct {
		name string
		open func(b *testing.B) *os.File
		ops  int
	}{
		{"null", openNull, 20_000},
		{"pipe", openPipe, 8000},
	} {
		for _, l := range Loggers() {
			b.Run(target.name+"/"+l.Name, func(b *testing.B) {
				compare(b, l, target.open(b), target.ops)
			})
		}
	}
}

func compare(b *testing.B, l Logger, f *os.File, ops int) {
	out := stdout.New(stdout.Config{File: f})
	defer out.Close()
	through, direct := l.New(sink.NewWriter(out, sink.WriterConfig{})), l.New(f)
	const rounds = 100
	for b.Loop() {
		t := measure.Alternate([]measure.Contestant{
			{Name: "writer", Do: repeat(through)},
			{Name: "file", Do: repeat(direct)},
		}, measure.Config{Rounds: rounds, Ops: ops})
		b.ReportMetric(t[0].Least, "ns/line")
		b.ReportMetric(t[1].Least, "ns/line-direct")
		b.ReportMetric(t[0].Least/t[1].Least, "ratio")
	}
	b.ReportMetric(0, "ns/op")
}

func repeat(log func(msg string)) func(n int) {
	return func(n int) {
		for range n {
			log("request done")
		}
	}
}

func openNull(b *testing.B) *os.File {
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return f
}

func openPipe(b *testing.B) *os.File {
	d, err := child.StartDrain()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = d.Close() })
	return d.W
}
