// SPDX-License-Identifier: Apache-2.0

package target

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/dest/syslog"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text, network, address string
		brokers                []string
		topic                  string
	}{
		{"file:/var/log/a.log", "file", "/var/log/a.log", nil, ""},
		{"file:a.log?max_size=100MB&backups=5&compress=gzip", "file", "a.log", nil, ""},
		{"relp://logs:2514", "relp", "logs:2514", nil, ""},
		{"relp+tls://logs:2514?name=other", "relp+tls", "logs:2514", nil, ""},
		{"syslog+tcp://[::1]:514?app=shop&facility=local3", "tcp", "[::1]:514", nil, ""},
		{"tls://logs:6514?name=logs.example.org", "tls", "logs:6514", nil, ""},
		{"unix:/run/a%20b.sock", "unix", "/run/a b.sock", nil, ""},
		{"syslog+unixgram:///dev/log", "unixgram", "/dev/log", nil, ""},
		{"kafka://a:9092,b:9092/logs?compression=zstd", "kafka", "", []string{"a:9092", "b:9092"}, "logs"},
	} {
		got, err := Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got.Network != c.network || got.Address != c.address || !slices.Equal(got.Brokers, c.brokers) || got.Topic != c.topic || got.String() != c.text {
			t.Errorf("%s: got %+v", c.text, got)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "want file:PATH",
		"/var/log/a.log":                   "want file:PATH",
		"http://x:80":                      "want file:PATH",
		"file:":                            "path",
		"file:a,file:b":                    "%2C",
		"file:a?max_size=lots":             "max_size",
		"file:a?buffer=64KiB":              "not for a file behind a spool",
		"tcp://logs":                       "missing port",
		"tcp://:514":                       "want HOST:PORT",
		"relp://logs:2514?color=red":       `no option "color"`,
		"relp://logs:2514?app=a&app=b":     "twice",
		"tcp://logs:514?name=x":            "for tls and relp+tls",
		"tls://logs:6514?ca=/none":         "ca: open /none",
		"tls://logs:6514?cert=a":           "belong together",
		"tcp://logs:514?facility=loud":     `unknown facility "loud"`,
		"tcp://logs:514?max_size=-1":       "not a size",
		"tcp://logs:514?max_size=10":       "MaxSize is less",
		"tcp://logs:514?app=a%20b":         "AppName",
		"kafka://a:9/l?compression=rar":    "no compression",
		"kafka://a:9/l?tls=maybe":          "want on",
		"kafka://a:9/l?user=me":            "NIB_KAFKA_PASSWORD",
		"kafka://a:9/l?mechanism=plain":    "without user",
		"kafka://a:9/l?partitioning=x":     "no partitioning",
		"kafka://a:9/l?partitioning=keyed": "key_field=NAME",
		"kafka://a:9/l?partitioning=per_spool&key_field=a": "key_field=NAME",
		"kafka://a:9/l?create_topic=yes":                   "want on",
		"unix:":                                            "path of the socket",
		"kafka://a:9092":                                   "kafka://BROKER,BROKER/TOPIC",
		"kafka://a:9092/":                                  "kafka://BROKER,BROKER/TOPIC",
		"kafka://a:9092,b/logs":                            "broker",
		"kafka://a:9092/logs?acks=1":                       `no option "acks"`,
		"kafka://a:9092/logs?user=%zz":                     "invalid URL escape",
		"syslog+file:/var/log/a.log?x=1":                   "x",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want something with %q", text, err, want)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Setenv(passwordVariable, "secret")
	to, err := Parse("kafka://a:9092/logs?user=me&mechanism=plain&tls=on&compression=zstd")
	if err != nil {
		t.Fatal(err)
	}
	k, _ := to.kafka()
	if k.SASL == nil || *k.SASL != (kafka.SASL{Mechanism: kafka.SASLPlain, User: "me", Password: "secret"}) || k.TLS == nil || k.Compression != kafka.CompressionZstd {
		t.Errorf("got %+v", k)
	}
	if to, err = Parse("tcp://a:514?app=shop&facility=local3&max_size=64KiB&sequence_id=nib@1"); err != nil {
		t.Fatal(err)
	}
	s, _ := to.syslog()
	if s.AppName != "shop" || s.Facility != syslog.FacilityLocal0+3 || s.MaxSize != 64<<10 || s.SequenceID != "nib@1" {
		t.Errorf("got %+v", s)
	}
}

// TestOpenConnectsToNothing opens what is not there: deliveries wait for it.
func TestOpenConnectsToNothing(t *testing.T) {
	for _, text := range []string{"kafka://127.0.0.1:1/logs", "relp://127.0.0.1:1", "unix:/none"} {
		to, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		d, err := to.Open(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The relay chooses partitions as the service did, or says what it has to know.
func TestPartitioningOfTheService(t *testing.T) {
	key := func(*nib.Record) []byte { return nil }
	for _, c := range []struct {
		service kafka.Config
		options string
		want    kafka.Partitioning
		err     string
	}{
		{kafka.Config{}, "", kafka.PartitioningPerSpool, ""},
		{kafka.Config{}, "?partitioning=round_robin", kafka.PartitioningRoundRobin, ""},
		{kafka.Config{}, "?key_field=user", 0, "leave out key_field"},
		{kafka.Config{}, "?partitioning=keyed&key_field=user", kafka.PartitioningKeyed, ""},
		{kafka.Config{Partitioning: kafka.PartitioningRoundRobin}, "", kafka.PartitioningRoundRobin, ""},
		{kafka.Config{Partitioning: kafka.PartitioningRoundRobin}, "?partitioning=per_spool", kafka.PartitioningPerSpool, ""},
		{kafka.Config{Partitioning: kafka.PartitioningKeyed, Key: key}, "", 0, "add key_field=NAME"},
		{kafka.Config{Partitioning: kafka.PartitioningKeyed, Key: key}, "?key_field=user", kafka.PartitioningKeyed, ""},
		{kafka.Config{Partitioning: kafka.PartitioningKeyed, Key: key}, "?partitioning=per_spool", kafka.PartitioningPerSpool, ""},
	} {
		service, err := kafka.New([]string{"127.0.0.1:1"}, "logs", c.service)
		if err != nil {
			t.Fatal(err)
		}
		to, err := Parse("kafka://127.0.0.1:1/logs" + c.options)
		if err != nil {
			t.Fatal(err)
		}
		d, err := to.Open(service.Mark())
		_ = service.Close()
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v, %q: got %v, want %q", c.service.Partitioning, c.options, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v, %q: %v", c.service.Partitioning, c.options, err)
			continue
		}
		if got, ok := kafka.PartitioningOf(d.(*kafka.Destination).Mark()); got != c.want || !ok {
			t.Errorf("%v, %q: got %v, want %v", c.service.Partitioning, c.options, got, c.want)
		}
		_ = d.Close()
	}
}

func TestOpenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	to, err := Parse("file:" + path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := to.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := d.Deliver(context.Background(), []nib.Record{{Line: []byte("{}\n")}})
	if err != nil || res.Accepted != 1 {
		t.Errorf("got %+v and %v", res, err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "{}\n" {
		t.Errorf("got %q", b)
	}
	to, _ = Parse("file:" + filepath.Join(path, "below"))
	if _, err := to.Open(nil); err == nil || !strings.Contains(err.Error(), `target "file:`) {
		t.Errorf("got %v", err)
	}
}
