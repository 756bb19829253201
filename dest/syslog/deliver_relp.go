// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
)

// attempts is the number of times that a refused record is sent.
const attempts = 3

// errRefused is wrapped by the Reason of a record that a RELP receiver has
// refused, and by the error of Deliver if refused records wait.
var errRefused = errors.New("the receiver refused the record")

// deliverRELP sends the batch and waits for all responses. It sends only
// refused records again: those after them have been accepted and must not be
// duplicated. Each time it sends an accepted one after them, the witness: if
// the receiver refuses this one as well, or all of several records, the cause
// is not a record, and they wait. A receiver may also end the connection
// because of a record.
func (d *Destination) deliverRELP(
	ctx context.Context, l *link, batch []nib.Record,
) (res delivery.Result, err error) {
	head := identityOf(&batch[0])
	cut := d.refusals.cuts[head.spool]
	if cut.n >= maxCuts && len(batch) > 1 && cut.first == head {
		return d.probe(ctx, l, batch)
	}
	d.order = d.order[:0]
	for i := range batch {
		d.order = append(d.order, i)
	}
	res, err = d.sendOrder(ctx, l, batch)
	switch {
	case err == nil || res.Accepted > 0 || !l.isEnded():
		delete(d.refusals.cuts, head.spool)
	case cut.first != head:
		d.refusals.cuts[head.spool] = cuts{first: head, n: 1}
	default:
		cut.n++
		d.refusals.cuts[head.spool] = cut
	}
	return res, err
}

// refusals is what is known about the records that the receiver refuses.
type refusals struct {
	witness nib.Record      // an accepted record; Line is nil if there is none
	cuts    map[uint64]cuts // by Spool: connections that ended at the same record
}

// maxCuts is the number of connections in a row that the receiver ends at the
// same record before this record is examined.
const maxCuts = 8

// cuts counts the connections that the receiver ended without a response to the
// first record.
type cuts struct {
	first identity
	n     int
	tries int // calls of probe
}

// isEnded reports whether the receiver has ended the connection, perhaps by a
// reset.
func (l *link) isEnded() bool {
	err := l.err()
	return err != nil && !l.isOurs(err) && !errors.Is(err, errSilent)
}

// An identity identifies a record in a spool.
type identity struct{ spool, seq uint64 }

func identityOf(r *nib.Record) identity { return identity{r.Spool, r.Seq} }

// probe sends another record of the batch, and then the first one alone. If the
// receiver accepts the other one, and ends the connection because of the first
// one again, the first one is rejected. The other one is the second one, or in
// later calls a later one, which arrives twice.
func (d *Destination) probe(ctx context.Context, l *link, batch []nib.Record) (delivery.Result,
	error) {
	cut := d.refusals.cuts[batch[0].Spool]
	other := 1 + cut.tries%(len(batch)-1)
	cut.tries, cut.n = cut.tries+1, 0
	d.refusals.cuts[batch[0].Spool] = cut
	d.order = append(d.order[:0], other)
	if res, err := d.sendOrder(ctx, l, batch); err != nil || len(res.Rejected) > 0 {
		return delivery.Result{}, err
	}
	settled := delivery.Result{Accepted: 1}
	if other == 1 {
		settled.Accepted = 2
	}
	d.order = append(d.order[:0], 0)
	res, err := d.sendOrder(ctx, l, batch)
	switch {
	case err == nil:
		settled.Rejected = res.Rejected
		return settled, nil
	case !l.isEnded():
		return delivery.Result{}, err
	}
	reason := d.wrap(fmt.Errorf("%w: %w because of it, %d times, but accepts others", errRefused,
		errEnded, maxCuts+1))
	settled.Rejected = []delivery.Rejection{{Index: 0, Reason: reason}}
	return settled, err
}

// sendOrder sends the records whose indexes are in d.order, and waits for all
// responses.
func (d *Destination) sendOrder(ctx context.Context, l *link,
	batch []nib.Record) (res delivery.Result, err error) {
	refused, open, err := d.sendCommands(ctx, l, batch, &res)
	sent, extra := len(d.ends), len(batch) // the index of the witness
	if err == nil {
		d.remember(batch, refused)
	}
	works := d.refusals.witness.Line != nil && (len(refused) < sent || sent == 1)
	for n := 1; n < attempts && err == nil && works && len(refused) > 0; n++ {
		d.order = d.order[:0]
		for _, r := range refused {
			d.order = append(d.order, r.Index)
		}
		d.order = append(d.order, extra)
		all := append(batch[:extra:extra], d.refusals.witness)
		refused, open, err = d.sendCommands(ctx, l, all, &res)
		if last := len(refused) - 1; last >= 0 && refused[last].Index == extra {
			refused, works = refused[:last], false
		}
	}
	res.Accepted = min(open, extra)
	if err == nil && len(refused) > 0 && !works {
		err = fmt.Errorf("no other record is accepted, so they wait: %w",
			errors.Unwrap(refused[0].Reason))
	}
	if err != nil && len(refused) > 0 {
		res.Accepted = min(res.Accepted, refused[0].Index)
	}
	res.Rejected = append(res.Rejected, refused...)
	slices.SortFunc(res.Rejected, func(a, b delivery.Rejection) int { return a.Index - b.Index })
	res.Rejected = res.Rejected[:refusedBelow(res.Rejected, res.Accepted)]
	return res, err
}

// remember keeps the shortest of the records that the receiver has accepted.
func (d *Destination) remember(batch []nib.Record, refused []delivery.Rejection) {
	var r *nib.Record
	for _, e := range d.ends {
		if len(refused) > 0 && refused[0].Index == e.record {
			refused = refused[1:]
		} else if b := &batch[e.record]; r == nil || len(b.Line) < len(r.Line) {
			r = b
		}
	}
	if r != nil {
		w := &d.refusals.witness
		line := append(w.Line[:0], r.Line...)
		*w = *r
		w.Line, w.Message = line, nil
	}
}

// sendCommands sends the records whose indexes are in d.order, and waits for
// all responses. open is the first of them without a response, or the length of
// the batch if all have one; refused has the refused records, in order. The
// window is filled again when half of it is free: waking up for each response
// would need a write for each frame.
func (d *Destination) sendCommands(
	ctx context.Context, l *link, batch []nib.Record, res *delivery.Result,
) (refused []delivery.Rejection, open int, err error) {
	s := d.session
	first := s.next
	d.ends = d.ends[:0]
	k := 0
	for k < len(d.order) && err == nil {
		d.buf = d.buf[:0]
		room := s.room()
		for ; k < len(d.order) && len(d.buf) < chunk && room > 0; k++ {
			if d.addCommand(&batch[d.order[k]], d.order[k], res) {
				room--
			}
		}
		if _, err = l.stream.Write(d.buf); err != nil {
			d.awaitReader(l, err)
		} else if room == 0 {
			err = d.await(ctx, l, s.next-uint64(len(s.settled)/2))
		}
	}
	if err == nil {
		err = d.await(ctx, l, s.next)
	}
	if err != nil {
		l.fail(err) // from now on there are no more responses
		<-l.done
	}
	switch open = len(batch); {
	case s.base < s.next:
		open = d.ends[s.base-first].record
		d.counters.doubtful.Add(s.next - s.base)
	case k < len(d.order):
		open = d.order[k]
	}
	for _, r := range s.refused {
		refused = append(refused, delivery.Rejection{Index: d.ends[r.command-first].record,
			Reason: d.wrap(fmt.Errorf("%w: %s", errRefused, r.why))})
	}
	s.refused = s.refused[:0]
	slices.SortFunc(refused, func(a, b delivery.Rejection) int { return a.Index - b.Index })
	return refused, open, err
}

// addCommand appends the frame of record i to the buffer, unless it is
// rejected.
func (d *Destination) addCommand(r *nib.Record, i int, res *delivery.Result) bool {
	head, line, ok := d.prepare(r, i, res)
	if !ok {
		return false
	}
	n := d.session.start()
	d.buf = appendCommand(d.buf, numberOf(n), "syslog", len(head)+len(line))
	d.buf = append(append(append(append(d.buf, ' '), head...), line...), '\n')
	d.ends = append(d.ends, end{len(d.buf), i})
	return true
}

// awaitReader waits until the reader has noticed the end of the connection, for
// a tick at most: the reader first reads the responses that arrived before the
// end.
func (d *Destination) awaitReader(l *link, err error) {
	if l.isOurs(err) {
		return
	}
	d.timer.Reset(l.tick)
	select {
	case <-l.done:
	case <-d.timer.C:
	}
}

// await waits until all commands before want have their response. It returns an
// error if ctx ends, the link fails, or no response arrives within the timeout.
func (d *Destination) await(ctx context.Context, l *link, want uint64) error {
	s := d.session
	ready, answers := s.expect(want)
	for silentTicks := 0; !ready; {
		if err := l.err(); err != nil {
			return err
		}
		if l.quickAck != nil {
			l.quickAck() // the last write may have made the system delay acknowledgements
		}
		d.timer.Reset(2 * l.tick)
		select {
		case <-s.wake:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-d.timer.C:
			silentTicks++
		}
		before := answers
		if ready, answers = s.expect(want); answers != before {
			silentTicks = 0
		}
		if silentTicks == ticks/2-1 { // up to one more tick has passed before the first
			return errSilent
		}
	}
	return nil
}
