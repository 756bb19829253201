// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"fmt"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/usercode"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// A deliverSpool is the deliver.Spool of a chain.
type deliverSpool struct {
	m *maker
	*reporter
}

func (d deliverSpool) Remove(l *deliver.Link)   { d.m.remove(l) }
func (d deliverSpool) Leave(g *segment.Segment) { d.m.leave(g) }
func (d deliverSpool) ReportNoted()             { d.m.reportNoted() }

// newDelivery returns the delivery to a destination.
func (s *Sink) newDelivery(
	name string, dest delivery.Destination,
) (d *deliver.Delivery, err error) {
	label := name
	if name == s.c.Name {
		label = s.c.Label
	}
	o := deliver.Options{
		Context: s.ctx, Name: name, Label: label,
		Size: s.c.Size, SegmentSize: s.c.SegmentSize, RejectedSize: s.c.RejectedSize,
		Tick: s.c.tick,
		Idle: &s.chain.idle, Safe: s.maker.safe,
	}
	from := deliverSpool{&s.maker, s.chain.reports}
	err = apart(func() { d = deliver.New(&s.chain.Chain, from, o, dest) })
	if err != nil {
		err = fmt.Errorf("the destination %s (%T): %w", label, dest, err)
	}
	return d, err
}

// apart runs f, which calls methods of a destination, on a separate goroutine.
// If f panics or ends the goroutine, the caller gets an error.
func apart(f func()) (err error) {
	err = deliver.ErrEnded
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				err = errors.New("panic: " + usercode.PanicText(p))
			}
		}()
		f()
		err = nil
	}()
	<-done
	return err
}

// startDestinations tells the destinations which records are new.
func (ch *chain) startDestinations() {
	for _, d := range ch.Deliveries {
		if to, ok := d.Dest.(delivery.Starter); ok {
			if err := apart(func() { to.Start(ch.stream) }); err != nil {
				ch.reports.Fault("start the destination "+d.Options.Label, err)
			}
		}
	}
}

// deliveryEnded is called when a delivery has ended. The last one to end
// releases everything.
func (s *Sink) deliveryEnded() {
	s.chain.Lock()
	s.running--
	last := s.running == 0
	s.chain.Unlock()
	if !last {
		return
	}
	<-s.maker.made // wait until no segment is being made
	s.chain.Lock()
	_ = s.chain.publish() // counts that could not be stored before
	s.chain.unmapped = true
	s.chain.Unlock()
	for _, l := range s.chain.Links {
		if g := l.Live; g != nil && g.HasNoWriters() {
			g.Done(nil)
		}
	}
	for _, g := range s.chain.unpatched {
		g.Release()
	}
	s.release()
	close(s.done)
}
