// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"errors"
	"fmt"

	"github.com/nib-log/nib"
)

// Tee makes a sink that hands every record to each of sinks in turn, on the
// goroutine that logs. A branch that fails, panics or ends the goroutine does
// not keep the others from the record. The errors are joined: an error means
// that at least one branch has not got the line. Without sinks it is Discard. A
// nil sink panics. 0 allocs per record, unless two branches fail.
func Tee(sinks ...nib.Sink) nib.Sink {
	if len(sinks) == 0 {
		return Discard()
	}
	return &tee{branches: newBranches("Tee", sinks), sinks: append([]nib.Sink(nil), sinks...)}
}

type tee struct {
	branches
	sinks []nib.Sink
}

var _ nib.Sink = (*tee)(nil)

// WriteRecord hands r to every branch.
func (t *tee) WriteRecord(r *nib.Record) error { return t.from(0, r) }

// from hands r to the branches from i on. One that does not return is skipped
// by the deferred function, which runs for a panic and for runtime.Goexit alike.
func (t *tee) from(i int, r *nib.Record) (err error) {
	defer func() {
		if i == len(t.sinks) {
			return
		}
		if p := recover(); p != nil {
			err = join(err, fmt.Errorf("nib/sink: Tee: branch %d panicked: %v", i, p))
		}
		err = join(err, t.from(i+1, r))
	}()
	for ; i < len(t.sinks); i++ {
		err = join(err, t.sinks[i].WriteRecord(r))
	}
	return err
}

// join is errors.Join that does not wrap a single error.
func join(a, b error) error {
	switch {
	case b == nil:
		return a
	case a == nil:
		return b
	}
	return errors.Join(a, b)
}
