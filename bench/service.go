// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink/spool"
)

// A Service is one way to log in the scenario of an HTTP service.
type Service struct {
	Name string
	// Start returns log, which logs the five lines of the request with an id to
	// w, the standard output, and end, which ends logging.
	Start func(w io.Writer) (log func(id uint64), end func() error)
}

// Services lists all services: one without logging, every peer that has a
// Service, the peers that can buffer lines, and nib with a spool.
func Services() []Service {
	services := []Service{service("off", func(io.Writer) func(uint64) { return func(uint64) {} })}
	for _, p := range Peers() {
		if p.Service != nil {
			services = append(services, service(p.Name, p.Service))
		}
	}
	for _, p := range Peers() {
		if p.BufferedService != nil {
			services = append(services, service(p.Name+"-buffered", p.BufferedService))
		}
	}
	return append(services, Service{Name: "nib-spool", Start: spoolService})
}

func service(name string, start func(io.Writer) func(uint64)) Service {
	return Service{name, func(w io.Writer) (func(uint64), func() error) {
		return start(w), func() error { return nil }
	}}
}

// spoolService logs into a spool with its defaults, which delivers to w.
func spoolService(w io.Writer) (func(uint64), func() error) {
	dir := measure.Must(os.MkdirTemp("", "nibbench"))
	s := measure.Must(spool.Open(dir, &joined{w: w}, spool.Config{}))
	return nibFive(nib.NewSink(s)), func() error {
		return errors.Join(s.Close(), os.RemoveAll(dir))
	}
}

// joined writes each batch with one write.
type joined struct {
	w   io.Writer
	buf []byte
}

func (j *joined) Deliver(_ context.Context, batch []nib.Record) (delivery.Result, error) {
	j.buf = j.buf[:0]
	for i := range batch {
		j.buf = append(j.buf, batch[i].Line...)
	}
	if _, err := j.w.Write(j.buf); err != nil {
		return delivery.Result{}, err
	}
	return delivery.Result{Accepted: len(batch)}, nil
}
