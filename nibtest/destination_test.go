// SPDX-License-Identifier: Apache-2.0

package nibtest_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/nibtest"
)

// A goodDestination settles at most step records per call, like one with a
// limit. The broken ones differ from it in deliver.
type goodDestination struct {
	step    int
	lines   [][]byte
	closed  bool
	deliver func(d *goodDestination, ctx context.Context, batch []nib.Record) (delivery.Result, error)
}

func (d *goodDestination) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	if d.deliver != nil {
		return d.deliver(d, ctx, batch)
	}
	return d.take(ctx, batch)
}

func (d *goodDestination) take(ctx context.Context, batch []nib.Record) (res delivery.Result, err error) {
	if d.closed {
		return res, errClosed
	}
	for i := range batch {
		if err := ctx.Err(); err != nil {
			return res, err
		}
		if i == d.step {
			return res, nil
		}
		d.lines = append(d.lines, bytes.Clone(batch[i].Line))
		res.Accepted++
	}
	return res, nil
}

func (d *goodDestination) Close() error {
	d.closed = true
	return nil
}

func (d *goodDestination) read() [][]byte { return d.lines }

func TestDestinationPassesGoodOnes(t *testing.T) {
	for _, step := range []int{17, 100_000} {
		nibtest.TestDestination(t, func(testing.TB) (delivery.Destination, func() [][]byte) {
			d := &goodDestination{step: step}
			return d, d.read
		})
	}
}

// A faulty destination breaks the contract in one way.
type faulty struct {
	name    string
	deliver func(d *goodDestination, ctx context.Context, batch []nib.Record) (delivery.Result, error)
	want    string // of the suite's complaint
}

var faultyDestinations = []faulty{
	{"settles what it did not take", func(d *goodDestination, ctx context.Context, batch []nib.Record) (delivery.Result, error) {
		_, err := d.take(ctx, batch)
		return delivery.Result{Accepted: len(batch)}, err
	}, "batches: "},
	{"takes what it does not settle", func(d *goodDestination, ctx context.Context, batch []nib.Record) (delivery.Result, error) {
		res, err := d.take(ctx, batch)
		res.Accepted = min(res.Accepted, 1)
		return res, err
	}, "batches: line"},
	{"settles more than there is", func(d *goodDestination, ctx context.Context, batch []nib.Record) (delivery.Result, error) {
		return delivery.Result{Accepted: len(batch) + 1}, nil
	}, "Accepted is 1 of a batch of 0"},
	{"settles nothing", func(*goodDestination, context.Context, []nib.Record) (delivery.Result, error) {
		return delivery.Result{}, nil
	}, "settled none"},
	{"always fails", func(_ *goodDestination, _ context.Context, batch []nib.Record) (delivery.Result, error) {
		if len(batch) == 0 {
			return delivery.Result{}, nil
		}
		return delivery.Result{}, errors.New("unreachable")
	}, "after 100 attempts: unreachable"},
	{"fails on an empty batch", func(d *goodDestination, ctx context.Context, batch []nib.Record) (delivery.Result, error) {
		if len(batch) == 0 {
			return delivery.Result{}, errors.New("nothing to do")
		}
		return d.take(ctx, batch)
	}, "empty batch: "},
	{"keeps the batch", func(d *goodDestination, ctx context.Context, batch []nib.Record) (delivery.Result, error) {
		for _, r := range batch {
			d.lines = append(d.lines, r.Line)
		}
		return delivery.Result{Accepted: len(batch)}, nil
	}, "####"},
	{"reverses batches", func(d *goodDestination, ctx context.Context, batch []nib.Record) (delivery.Result, error) {
		for i := range batch {
			d.lines = append(d.lines, bytes.Clone(batch[len(batch)-1-i].Line))
		}
		return delivery.Result{Accepted: len(batch)}, nil
	}, "batches: line 1"},
	{"refuses long lines", func(d *goodDestination, ctx context.Context, batch []nib.Record) (res delivery.Result, err error) {
		for i, r := range batch {
			if len(r.Line) > 1<<16 {
				res.Rejected = append(res.Rejected, delivery.Rejection{Index: i, Reason: errors.New("too long")})
			} else {
				d.lines = append(d.lines, bytes.Clone(r.Line))
			}
		}
		res.Accepted = len(batch)
		return res, nil
	}, "was rejected (too long)"},
	{"rejects what it does not settle", func(d *goodDestination, ctx context.Context, batch []nib.Record) (delivery.Result, error) {
		res, err := d.take(ctx, batch)
		res.Rejected = []delivery.Rejection{{Index: len(batch)}}
		return res, err
	}, "Rejected names record"},
	{"hides that it was cancelled", func(d *goodDestination, ctx context.Context, batch []nib.Record) (delivery.Result, error) {
		res, _ := d.take(ctx, batch)
		return res, nil
	}, "cancelled context: Deliver with a cancelled context settled 0"},
	{"takes records after Close", func(d *goodDestination, ctx context.Context, batch []nib.Record) (delivery.Result, error) {
		d.closed = false
		return d.take(ctx, batch)
	}, "Deliver after Close"},
}

func TestDestinationFindsFaults(t *testing.T) {
	for _, c := range faultyDestinations {
		t.Run(c.name, func(t *testing.T) {
			wantFault(t, faultsOf(func(tb testing.TB) {
				nibtest.TestDestination(tb, func(testing.TB) (delivery.Destination, func() [][]byte) {
					d := &goodDestination{step: 300, deliver: c.deliver}
					return d, d.read
				})
			}), c.want)
		})
	}
}
