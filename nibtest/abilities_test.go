// SPDX-License-Identifier: Apache-2.0

package nibtest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/nibtest"
)

// An able destination has every ability, each with one function that a test may
// replace with a faulty one.
type able struct {
	recordtest.Recorder
	ping   func(d *able) error
	size   func() (records, bytes int)
	mark   func() []byte
	resume func(d *able) (int, error)
	fork   func(d *able) (delivery.Destination, error)
}

func newAble() *able {
	return &able{
		ping:   func(d *able) error { return d.fault() },
		size:   func() (int, int) { return 10, 1000 },
		mark:   func() []byte { return []byte("mark") },
		resume: func(d *able) (int, error) { return 0, d.fault() },
		fork:   func(*able) (delivery.Destination, error) { return newAble(), nil },
	}
}

// fault returns the error of a call of Deliver.
func (d *able) fault() error {
	_, err := d.Recorder.Deliver(context.Background(), nil)
	return err
}

func (d *able) Ping(context.Context) error                                { return d.ping(d) }
func (d *able) BatchSize() (records, bytes int)                           { return d.size() }
func (d *able) Mark() []byte                                              { return d.mark() }
func (d *able) Fork() (delivery.Destination, error)                       { return d.fork(d) }
func (d *able) Resume(context.Context, []byte, []nib.Record) (int, error) { return d.resume(d) }

// Overlap leaves the second half of each batch in flight.
func (d *able) Overlap() {
	d.DeliverWith(func(_ context.Context, batch []nib.Record) (delivery.Result, error) {
		return delivery.Result{Accepted: (len(batch) + 1) / 2}, nil
	})
}

func (d *able) lines() [][]byte {
	var lines [][]byte
	for _, r := range d.Records() {
		lines = append(lines, r.Line)
	}
	return lines
}

func TestRecorderIsADestination(t *testing.T) {
	nibtest.TestDestination(t, func(testing.TB) (delivery.Destination, func() [][]byte) {
		d := new(able)
		return &d.Recorder.Recorder, d.lines
	})
}

func TestDestinationPassesAbleOnes(t *testing.T) {
	nibtest.TestDestination(t, func(testing.TB) (delivery.Destination, func() [][]byte) {
		d := newAble()
		return d, d.lines
	})
}

func TestDestinationFindsFaultyAbilities(t *testing.T) {
	for _, tt := range []struct {
		name   string
		faulty func(d *able)
		want   string // of the suite's complaint
	}{
		{"ping that fails", func(d *able) { d.ping = func(*able) error { return errors.New("no") } }, "ping: Ping before Deliver"},
		{"ping after Close", func(d *able) { d.ping = func(*able) error { return nil } }, "ping: Ping after Close"},
		{"no records", func(d *able) { d.size = func() (int, int) { return 0, 1 } }, "batch size: "},
		{"long mark", func(d *able) { d.mark = func() []byte { return make([]byte, 41) } }, "resume: Mark before Deliver: got 41 bytes"},
		{"claims records", func(d *able) { d.resume = func(*able) (int, error) { return 1, nil } }, "resume: Resume of records that were never delivered"},
		{"resume after Close", func(d *able) { d.resume = func(*able) (int, error) { return 0, nil } }, "resume: Resume after Close"},
		{"fork of nothing", func(d *able) { d.fork = func(*able) (delivery.Destination, error) { return nil, nil } }, "fork: Fork"},
		{"fork of itself", func(d *able) { d.fork = func(d *able) (delivery.Destination, error) { return d, nil } }, "fork: Fork"},
		{"fork that shares", func(d *able) {
			d.fork = func(d *able) (delivery.Destination, error) { return &d.Recorder, nil }
		}, "fork: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantFault(t, faultsOf(func(tb testing.TB) {
				nibtest.TestDestination(tb, func(testing.TB) (delivery.Destination, func() [][]byte) {
					d := newAble()
					tt.faulty(d)
					return d, d.lines
				})
			}), tt.want)
		})
	}
}
