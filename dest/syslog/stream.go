// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
)

// chunk is the number of bytes of frames that are written at once, unless one
// is longer.
const chunk = 64 << 10

// An end is the offset in the buffer at which the frame of a record ends.
type end struct {
	at     int
	record int // index in the batch
}

// deliverStream writes the batch with octet counting (RFC 6587, section 3.4.1).
// The records that the receiver accepted before it ended the connection cannot
// be determined.
//
// After repeated failures, perhaps because of one of the records, each call
// sends fewer of them, so that records before it are not sent again and again.
func (d *Destination) deliverStream(l *link, batch []nib.Record) (res delivery.Result, err error) {
	spool := batch[0].Spool
	if most := d.most[spool]; most > 0 {
		batch = batch[:min(most, len(batch))]
	}
	for i := 0; i < len(batch); {
		first := i
		d.buf, d.ends = d.buf[:0], d.ends[:0]
		for ; i < len(batch) && len(d.buf) < chunk; i++ {
			head, line, ok := d.prepare(&batch[i], i, &res)
			if !ok {
				continue
			}
			d.buf = strconv.AppendInt(d.buf, int64(len(head)+len(line)), 10)
			d.buf = append(append(append(d.buf, ' '), head...), line...)
			d.ends = append(d.ends, end{len(d.buf), i})
		}
		n, err := l.stream.Write(d.buf)
		if err != nil {
			return d.broken(l, err, res, spool, first, n)
		}
		res.Accepted = i
	}
	if err := l.err(); err != nil {
		return d.broken(l, err, res, spool, len(batch), 0)
	}
	if most := 2 * d.most[spool]; most > maxWindow {
		delete(d.most, spool)
	} else if most > 0 {
		d.most[spool] = most
	}
	return res, nil
}

// broken returns the settled part of a batch if only n bytes of the buffer were
// written; first is the record at the start of the buffer.
//
// If the Destination gave up, the system continues to send the bytes it has
// accepted. If the receiver ended the connection, the system has discarded an
// unknown part of the batch: none of it is settled.
func (d *Destination) broken(l *link, err error, res delivery.Result, spool uint64,
	first, n int) (delivery.Result, error) {
	l.fail(err)
	err = l.err()
	sent := first
	for _, e := range d.ends {
		if e.at > n {
			break
		}
		sent = e.record + 1
	}
	if l.isOurs(err) {
		res.Accepted = sent
	} else {
		d.counters.doubtful.Add(uint64(sent - refusedBelow(res.Rejected, sent)))
		d.most[spool] = max(sent/2, 1)
		res.Accepted = 0
	}
	res.Rejected = res.Rejected[:refusedBelow(res.Rejected, res.Accepted)]
	return res, err
}

// refusedBelow returns the number of refused records before index.
func refusedBelow(refused []delivery.Rejection, index int) (n int) {
	for n < len(refused) && refused[n].Index < index {
		n++
	}
	return n
}

// prepare returns the message of r, record i of the batch, or rejects the
// record.
func (d *Destination) prepare(
	r *nib.Record, i int, res *delivery.Result,
) (head, line []byte, ok bool) {
	head, line, cut, ok := d.message(r)
	if !ok {
		res.Rejected = append(res.Rejected, delivery.Rejection{Index: i,
			Reason: d.wrap(fmt.Errorf("%w: %d bytes, MaxSize is %d", delivery.ErrTooLarge,
				len(r.Line), d.config.MaxSize))})
		return nil, nil, false
	}
	d.sizes[i] = size{len(head) + len(line), cut}
	return head, line, true
}

// deliverDatagrams sends each message as a datagram. A datagram is in the
// receiver's queue or not sent at all.
func (d *Destination) deliverDatagrams(
	l *link, batch []nib.Record,
) (res delivery.Result, err error) {
	if err := l.SetWriteDeadline(time.Now().Add(l.tick)); err != nil {
		return res, err
	}
	for i := range batch {
		head, line, ok := d.prepare(&batch[i], i, &res)
		if ok {
			d.buf = append(append(d.buf[:0], head...), line...)
			_, err = l.Write(d.buf)
		}
		if errors.Is(err, syscall.EMSGSIZE) {
			res.Rejected = append(res.Rejected, delivery.Rejection{Index: i,
				Reason: d.wrap(
					fmt.Errorf("%w for a datagram: %d bytes", delivery.ErrTooLarge, len(d.buf)))})
			err = nil
		}
		if err != nil {
			return res, err
		}
		res.Accepted = i + 1
	}
	return res, nil
}
