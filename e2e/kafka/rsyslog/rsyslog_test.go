// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rsyslog

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/dest/syslog"
	"github.com/nib-log/nib/e2e/kafka/cluster"
	"github.com/nib-log/nib/e2e/servers"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/schema"
	"github.com/nib-log/nib/sink/spool"
)

// A Line is written by the service: its format is fixed, and consumers have its
// schema.
type Line struct {
	Service string `json:"service"`
	Msg     string `json:"msg"`
	TaskID  string `json:"task_id"`
	LogDate string `json:"log_date"`
	N       int    `json:"n"`
	Text    string `json:"text"`
}

var codec = schema.MustFor[Line]()

// A noting destination records which records were accepted in which life of
// rsyslog. That is the life in which the call began, because an acknowledgement
// may be read from the connection after the end of that life.
type noting struct {
	*syslog.Destination
	life chan int // has one number
	in   []int    // by record
}

func (d *noting) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	life := <-d.life
	d.life <- life
	res, err := d.Destination.Deliver(ctx, batch)
	for range res.Accepted {
		d.in = append(d.in, life)
	}
	return res, err
}

// A sender is a service: a spool in front of a syslog destination.
type sender struct {
	t       *testing.T
	rsyslog *servers.Rsyslog
	dest    *noting
	spool   *spool.Sink
	lines   [][]byte
}

func newSender(t *testing.T, r *servers.Rsyslog, network, addr string) *sender {
	t.Helper()
	d, err := syslog.New(network, addr, syslog.Config{AppName: "billing", MaxSize: 60 << 10})
	if err != nil {
		t.Fatal(err)
	}
	s := &sender{t: t, rsyslog: r, dest: &noting{Destination: d, life: make(chan int, 1)}}
	s.dest.life <- 0
	if s.spool, err = spool.Open(t.TempDir(), s.dest, spool.Config{
		OnFull: []spool.FullRule{{From: nib.LevelTrace, Do: spool.ActionBlock, Wait: 10 * time.Minute}}, // the disk may be busy
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.spool.Close()
		_ = d.Close()
	})
	return s
}

// hostile is text that is easily changed on the way.
const hostile = "tab\t quote\" back\\ # %msg% <b>&amp; \u00e9\u4e16\U0001f600 \x1b[31m \u2028 \x00 end\n"

// log writes n lines, rate per second; 0 is as fast as possible.
func (s *sender) log(n, rate int) {
	began := time.Now()
	for i := range n {
		l := Line{Service: "billing", Msg: "task done", LogDate: "2026-11-21 18:00:00", N: len(s.lines), Text: hostile}
		b, err := codec.AppendJSON(nil, &l)
		if err != nil {
			s.t.Fatal(err)
		}
		b = append(b, '\n')
		s.lines = append(s.lines, b)
		if err := s.spool.WriteRecord(&nib.Record{Time: time.Now().UnixNano(), Level: nib.LevelInfo, Line: b}); err != nil {
			s.t.Fatal(err)
		}
		if rate > 0 && i%100 == 0 {
			time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(rate))))
		}
	}
}

// flush waits until rsyslog has accepted everything.
func (s *sender) flush() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Minute)
	defer cancel()
	if err := s.spool.Flush(ctx); err != nil {
		s.t.Fatal(err)
	}
}

// Lines pass unchanged. omkafka delivers at least once: a line that arrives
// twice is reported, and is not a fault of the sender.
func TestTransports(t *testing.T) {
	brokers := cluster.Start(t, 1)
	brokers.Create("logs", 1)
	r := Start(t, brokers.Addrs())
	before := 0
	for _, c := range []struct{ network, addr string }{{"unix", r.Stream}, {"tcp", r.TCP}, {"relp", r.RELP}} {
		n := scale(20_000, 200_000)
		s := newSender(t, r, c.network, c.addr)
		began := time.Now()
		s.log(n, 0)
		s.flush()
		v := s.await(brokers.Addrs(), before, verdict.complete)
		t.Logf("%s: %d lines, %.0f per second end to end: %s", c.network, n, float64(n)/time.Since(began).Seconds(), v)
		if v.missing() > 0 || v.changed > 0 || v.invalid > 0 {
			t.Errorf("%s: not all lines are there as they were", c.network)
		}
		before = v.end
	}
}

// Kafka is down for a while; rsyslog is not.
func TestKafkaDown(t *testing.T) {
	if testing.Short() {
		t.Skip("in short mode, kfaketest has this case with a broker in memory")
	}
	brokers := cluster.Start(t, 1)
	brokers.Create("logs", 1)
	r := Start(t, brokers.Addrs())
	s := newSender(t, r, "relp", r.RELP)
	s.log(1000, 0)
	down := time.Duration(scale(10, 60)) * time.Second
	brokers.Kill(0)
	s.log(int(down.Seconds())*6000, 6000) // more than are kept in memory
	brokers.Run(0)
	brokers.AwaitReady()
	s.log(1000, 0)
	s.flush()
	v := s.await(brokers.Addrs(), 0, verdict.complete)
	t.Logf("Kafka down for %v, %d lines: %s", down, len(s.lines), v)
	if v.missing() > 0 || v.changed > 0 || v.invalid > 0 {
		t.Error("lines are missing or changed")
	}
}

// rsyslog is killed while lines flow. Lines that it had not acknowledged are
// sent again over RELP and not lost; acknowledged ones that it had in memory
// are gone, and are counted here.
func TestRsyslogKilled(t *testing.T) {
	brokers := cluster.Start(t, 1)
	brokers.Create("logs", 1)
	before := 0
	for _, network := range seed.Some(t, 2, []string{"relp", "tcp"}) {
		r := Start(t, brokers.Addrs())
		addr := map[string]string{"relp": r.RELP, "tcp": r.TCP}[network]
		s := newSender(t, r, network, addr)
		kills := scale(3, 20)
		for range kills {
			s.log(30_000, 10_000) // after a start it takes a second until rsyslog has connected to Kafka
			if err := r.Kill(); err != nil {
				t.Fatal(err)
			}
			s.dest.life <- 1 + <-s.dest.life
			if err := r.Start(); err != nil {
				t.Fatal(err)
			}
		}
		s.log(10_000, 20_000)
		s.flush()
		unacknowledged := func(v verdict) (lines int) {
			for n, there := range v.there {
				if !there && network == "relp" && s.dest.in[n] == kills {
					lines++
				}
			}
			return lines
		}
		v := s.await(brokers.Addrs(), before, func(v verdict) bool { return unacknowledged(v) == 0 })
		t.Logf("%s: rsyslog killed %d times, %d lines: %s", network, kills, len(s.lines), v)
		before = v.end
		if n := unacknowledged(v); n > 0 || v.changed > 0 || v.invalid > 0 {
			t.Errorf("%d lines are missing that no rsyslog was killed with", n)
		}
	}
}

// rsyslog is stopped by SIGTERM while Kafka is down. It does not end before the
// stop timeout, and is then killed, as systemd does. Lines that arrived before
// the outage are there.
func TestStopWhileKafkaIsDown(t *testing.T) {
	if testing.Short() {
		t.Skip("in short mode, kfaketest has this case with a broker in memory")
	}
	brokers := cluster.Start(t, 1)
	brokers.Create("logs", 1)
	timeout := time.Duration(scale(10, 100)) * time.Second
	before := 0
	for range scale(1, 3) {
		r := Start(t, brokers.Addrs())
		s := newSender(t, r, "relp", r.RELP)
		s.log(1000, 0)
		s.flush()
		if v := s.settle(brokers.Addrs(), before, verdict.complete); v.missing() > 0 {
			t.Fatalf("before the outage: %s", v)
		}
		brokers.Kill(0)
		s.log(scale(10, 30)*6000, 6000) // until messages have timed out, and are in memory and in files
		s.flush()
		began := time.Now()
		if err := r.StopWithin(timeout); err != nil {
			t.Fatal(err)
		}
		took := time.Since(began).Round(time.Second)
		brokers.Run(0)
		brokers.AwaitReady()
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		missing := func(v verdict) int { return slices.Index(v.there[:1000], false) }
		v := s.await(brokers.Addrs(), before, func(v verdict) bool { return missing(v) < 0 })
		t.Logf("stopped while Kafka is down: took %v of %v, %d lines: %s", took, timeout, len(s.lines), v)
		before = v.end
		if v.changed > 0 || v.invalid > 0 {
			t.Error("lines are changed")
		}
		if n := missing(v); n >= 0 {
			t.Fatalf("line %d is missing, which was delivered before the outage", n)
		}
	}
}

// scale chooses between the short and the full size of a test.
func scale(short, full int) int {
	if os.Getenv("NIB_E2E") == "full" {
		return full
	}
	return short
}

// await reads the topic from message number begin on until all lines are there
// or nothing more comes, also after rsyslog was restarted: lines that its queue
// has written to files can stay there until then. The lines that must be there
// are if enough returns true.
func (s *sender) await(addrs []string, begin int, enough func(verdict) bool) verdict {
	s.t.Helper()
	v := s.settle(addrs, begin, func(verdict) bool { return true })
	left := v.missing()
	if left == 0 {
		return v
	}
	if err := s.rsyslog.Stop(); err != nil {
		s.t.Fatal(err)
	}
	if err := s.rsyslog.Start(); err != nil {
		s.t.Fatal(err)
	}
	v = s.settle(addrs, begin, enough)
	v.stayed = left - v.missing()
	return v
}

// settle reads the topic until all lines are there, or enough lines are and
// nothing has come for three seconds, or nothing has come for two minutes.
func (s *sender) settle(addrs []string, begin int, enough func(verdict) bool) verdict {
	s.t.Helper()
	for from, last := time.Now(), -1; ; time.Sleep(300 * time.Millisecond) {
		v := s.check(addrs, begin)
		if v.end != last {
			from, last = time.Now(), v.end
		}
		still := time.Since(from)
		if v.complete() || still > 3*time.Second && enough(v) || still > 2*time.Minute {
			return v
		}
	}
}

// A verdict is the difference between the topic and the sent lines.
type verdict struct {
	there                             []bool // by line
	end                               int    // messages in the topic
	twice, disorder, changed, invalid int
	stayed                            int // in files, until rsyslog was restarted
}

func (v verdict) complete() bool { return !slices.Contains(v.there, false) }

func (v verdict) missing() (n int) {
	for _, there := range v.there {
		if !there {
			n++
		}
	}
	return n
}

func (v verdict) String() string {
	return fmt.Sprintf("%d lost, %d twice, %d out of order, %d changed, %d against the schema, %d stayed in files",
		v.missing(), v.twice, v.disorder, v.changed, v.invalid, v.stayed)
}

func number(value []byte) int {
	_, rest, _ := bytes.Cut(value, []byte(`"n":`))
	digits, _, _ := bytes.Cut(rest, []byte(`,`))
	n, err := strconv.Atoi(string(digits))
	if err != nil {
		return -1
	}
	return n
}
