// SPDX-License-Identifier: Apache-2.0

package linewriter

import (
	"fmt"
	"iter"
	"os"
	"time"

	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/metrics"
)

// Metrics implements [metrics.Source]: the lines written, by level. The label
// writer is the name of a file, and otherwise the type of the io.Writer.
func (w *Writer) Metrics() iter.Seq[metrics.Metric] {
	var l metrics.Samples
	written := w.traffic()
	written.Metrics(&l, "nib_writer", "written", metrics.Label{Name: "writer", Value: w.name()})
	return l.Metrics()
}

func (w *Writer) name() string {
	if w.stream != nil {
		return w.stream.Name()
	}
	if f, ok := w.w.(*os.File); ok && f != nil {
		return f.Name()
	}
	return fmt.Sprintf("%T", w.w)
}

// traffic returns the counts of written lines. While a write is blocked,
// because its reader has stopped or its io.Writer is the caller, they do not
// include that write.
func (w *Writer) traffic() level.Traffic {
	w.lastMu.Lock()
	locked := false
	for pause := time.Microsecond; pause < 50*time.Millisecond; pause *= 2 {
		if locked = w.mu.TryLock(); locked {
			w.last = w.written
			break
		}
		time.Sleep(pause)
	}
	last := w.last
	w.lastMu.Unlock()
	if locked {
		w.finish() // calls the writer, which may call Metrics
	}
	return last
}
