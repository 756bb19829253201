// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/dest/syslog"
	"github.com/nib-log/nib/e2e/servers"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/sink/spool"
)

// A service logs numbered lines through a spool, at a steady rate, until stop
// is called.
type service struct {
	t     *testing.T
	spool *spool.Sink
	quit  chan struct{}
	done  chan int // how many lines there were
}

// perTick lines are logged every tick: 20,000 a second.
const (
	tick    = 5 * time.Millisecond
	perTick = 100
)

// blocks has calls wait until a segment has been made, however slow the machine
// is.
var blocks = []spool.FullRule{{From: nib.LevelTrace, Do: spool.ActionBlock, Wait: patience}}

func newService(t *testing.T, d delivery.Destination) *service {
	t.Helper()
	var ended atomic.Bool
	s, err := spool.Open("", d, spool.Config{Drain: time.Second, OnFull: blocks, OnError: func(err error) {
		if !ended.Load() {
			t.Log(err)
		}
	}})
	must.Succeed(t, err)
	t.Cleanup(func() { ended.Store(true); _ = s.Close() })
	v := &service{t: t, spool: s, quit: make(chan struct{}), done: make(chan int, 1)}
	go v.run()
	return v
}

func (v *service) run() {
	log := nib.NewSink(v.spool)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for n := 0; ; {
		select {
		case <-v.quit:
			v.done <- n
			return
		case <-ticker.C:
		}
		for range perTick {
			log.Info().Int("n", n).Str("path", "/api/v1/orders").Msg("request served")
			n++
		}
	}
}

// stop ends the logging and waits until everything is settled.
func (v *service) stop() (logged int) {
	v.t.Helper()
	close(v.quit)
	logged = <-v.done
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := v.spool.Flush(ctx); err != nil {
		v.t.Errorf("Flush: %v; %+v", err, v.spool.Stats())
	}
	if st := v.spool.Stats(); st.Delivered != uint64(logged) || st.Lost() != 0 {
		v.t.Errorf("logged %d lines, and the spool says %+v", logged, st)
	}
	if err := v.spool.Close(); err != nil {
		v.t.Error(err)
	}
	return logged
}

// direct configures rsyslog without a queue: a line is in the file when it is
// acknowledged.
const direct = `queue.type="Direct"`

// TestE2EKilled kills rsyslog with SIGKILL, and starts it again, while lines
// come in.
func TestE2EKilled(t *testing.T) {
	const window = 128
	kills := counts(2, 10)
	for _, c := range []struct {
		name, network, queue string
	}{
		{"relp, written when acknowledged", "relp", direct},
		{"relp, queued when acknowledged", "relp", ""},
		{"tcp", "tcp", direct},
		{"unix stream", "unix", direct},
		{"unix datagram", "unixgram", direct},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := start(t, servers.RsyslogConfig{Queue: c.queue})
			d := dial(t, c.network, address(r, c.network), syslog.Config{Window: window})
			v := newService(t, d)
			for range kills {
				time.Sleep(400 * time.Millisecond)
				must.Succeed(t, r.Kill())
				time.Sleep(300 * time.Millisecond)
				must.Succeed(t, r.Start())
			}
			time.Sleep(400 * time.Millisecond)
			logged := v.stop()
			st := d.Stats()
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			if err := r.Stop(); err != nil { // writes its buffer
				t.Error(err)
			}
			got := count(t, r.Out, logged, kills)
			t.Logf("%-31s %d kills, %d lines: %v; %d doubtful for the sender", c.name, kills, logged, got, st.Doubtful)
			if int(st.Doubtful) < got.twice {
				t.Errorf("%d lines have come twice, the sender knows of %d", got.twice, st.Doubtful)
			}
			if c.network != "relp" {
				return
			}
			if got.twice > kills*window {
				t.Errorf("%d lines have come twice, want %d at most", got.twice, kills*window)
			}
			if c.queue == direct && got.lost > 0 {
				t.Errorf("%d lines are lost, want none", got.lost)
			}
		})
	}
}
