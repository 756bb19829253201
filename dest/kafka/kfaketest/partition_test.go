// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"crypto/tls"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nib-log/nib"
	. "github.com/nib-log/nib/dest/kafka"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// All records of a spool are in one partition, in order.
func TestPerSpool(t *testing.T) {
	c := start(t, 8, kfake.NumBrokers(3))
	d := dial(t, c, Config{})
	c.Fault(kfake.Fault{Keys: produce(), Topic: logs, Err: kerr.NotLeaderForPartition, Count: 2})
	deliver(t, d, records(7, 1, 500))
	c.ShufflePartitionLeaders()
	deliver(t, d, records(7, 501, 1000))
	wantExactly(t, c, 1, 1000)
	all := read(t, c, logs)
	for _, m := range all {
		if m.Partition != all[0].Partition {
			t.Fatalf("partitions %d and %d", m.Partition, all[0].Partition)
		}
	}
}

func TestRoundRobin(t *testing.T) {
	c := start(t, 4, kfake.NumBrokers(3))
	d := dial(t, c, Config{RoundRobin: true})
	c.Fault(kfake.Fault{Keys: produce(), Topic: logs, Partitions: []int32{2}, Err: kerr.NotLeaderForPartition, Count: 3})
	deliver(t, d, records(7, 1, 400))
	counts := map[int32]int{}
	for _, m := range read(t, c, logs) {
		counts[m.Partition]++
	}
	for p := range int32(4) {
		if counts[p] != 100 {
			t.Errorf("partition %d: got %d records, want 100", p, counts[p])
		}
	}
}

// A key goes to the partition that other clients choose for it.
func TestKeyedAsOthers(t *testing.T) {
	c := start(t, 7)
	key := func(r *nib.Record) []byte {
		if r.Seq%10 == 0 {
			return nil
		}
		return fmt.Appendf(nil, "%s%d", strings.Repeat("k", int(r.Seq%9)), r.Seq)
	}
	d := dial(t, c, Config{Key: key})
	deliver(t, d, records(7, 1, 200))
	others := kgo.StickyKeyPartitioner(nil).ForTopic(logs)
	for _, m := range read(t, c, logs) {
		if m.Key == nil {
			continue
		}
		if want := others.Partition(&kgo.Record{Key: m.Key}, 7); int(m.Partition) != want {
			t.Errorf("key %s: got partition %d, want %d", m.Key, m.Partition, want)
		}
	}
}

// Key is called for each record twice by the caller of Deliver, and then by the
// goroutine of the record's partition.
func TestKeyThatPanics(t *testing.T) {
	for name, panics := range map[string]func(seq, call uint64) bool{
		"for some records": func(seq, _ uint64) bool { return seq%10 == 0 },
		"at times":         func(_, call uint64) bool { return call%7 == 0 },
		"in the end":       func(_, call uint64) bool { return call > 200 },
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, 3)
			var calls atomic.Uint64
			d := dial(t, c, Config{Key: func(r *nib.Record) []byte {
				if panics(r.Seq, calls.Add(1)) {
					panic("no key")
				}
				return fmt.Appendf(nil, "%d", r.Seq)
			}})
			deliver(t, d, records(7, 1, 100))
			all := read(t, c, logs)
			if len(all) != 100 {
				t.Errorf("got %d records, want 100", len(all))
			}
			for _, m := range all {
				if none := strings.HasSuffix(m.Headers["seq"], "0"); name == "for some records" && (m.Key == nil) != none {
					t.Errorf("record %s: got key %q", m.Headers["seq"], m.Key)
				}
			}
		})
	}
}

func TestValidate(t *testing.T) {
	key := func(*nib.Record) []byte { return nil }
	for _, c := range []struct {
		conf Config
		want string // in the error; "" for none
	}{
		{Config{}, ""},
		{Config{Key: key, SASL: &SASL{Mechanism: "SCRAM-SHA-512"}}, ""},
		{Config{Key: key, RoundRobin: true}, "Key"},
		{Config{Key: key, TransactionalID: "tx"}, "TransactionalID"},
		{Config{Compression: "rar"}, "Compression"},
		{Config{MaxBatch: -1}, "MaxBatch"},
		{Config{Timeout: -1}, "Timeout"},
		{Config{TakeoverDelay: -1}, "TakeoverDelay"},
		{Config{TransactionalID: "tx", RoundRobin: true}, "TransactionalID"},
		{Config{SASL: &SASL{Mechanism: "plain"}}, "SASL"},
		{Config{SASL: &SASL{Mechanism: "PLAIN"}}, "clear text"},
		{Config{SASL: &SASL{Mechanism: "PLAIN", AllowClearText: true}}, ""},
		{Config{SASL: &SASL{Mechanism: "PLAIN"}, TLS: &tls.Config{MinVersion: tls.VersionTLS12}}, ""},
	} {
		d, err := New([]string{"127.0.0.1:1"}, logs, c.conf)
		if err == nil {
			_ = d.Close()
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want an error about %q", c.conf, err, c.want)
		}
	}
	if _, err := New(nil, logs, Config{}); err == nil {
		t.Error("no brokers: got no error")
	}
}

func TestKeyField(t *testing.T) {
	for line, want := range map[string]string{
		`{"user":"c-42"}`:           "c-42",
		`{"user":"a","user":"b"}`:   "b",
		`{"user":7}`:                "7",
		`{"user":{"id":7}}`:         `{"id":7}`,
		`{"user":"tab\t\u00e9\"q"}`: "tab\t\u00e9\"q",
		`{"user":""}`:               "",
		`{"user":null}`:             "none",
		`{"u":1}`:                   "none",
		`{}`:                        "none",
		`no object`:                 "none",
	} {
		got := KeyField("user")(&nib.Record{Line: []byte(line + "\n")})
		if (got == nil) != (want == "none") || got != nil && string(got) != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}
