// SPDX-License-Identifier: Apache-2.0

//go:build linux

package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/nib-log/nib/dest/kafka/topic"
	"github.com/nib-log/nib/e2e/kafka/cluster"
	"github.com/nib-log/nib/e2e/kafka/pipeline/contract"
	"github.com/nib-log/nib/e2e/kafka/rsyslog"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestPipeline(t *testing.T) {
	brokers := cluster.Start(t, 1)
	brokers.Create("logs", 1)
	front := rsyslog.Start(t, brokers.Addrs())
	bin, began := t.TempDir(), time.Now().Round(0) // the clock may be set during the test
	for _, service := range []string{"old", "new"} {
		path := filepath.Join(bin, service)
		if out, err := exec.Command("go", "build", "-o", path, "./"+service).CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", service, err, out)
		}
		if out, err := exec.Command(path, t.TempDir(), front.RELP).CombinedOutput(); err != nil {
			t.Fatalf("run %s: %v\n%s", service, err, out)
		}
	}
	want := map[string]int{"billing": 112, "orders": 102}
	got := consume(t, brokers.Addrs(), 112+102, began)
	for service, n := range want {
		if len(got[service]) != n {
			t.Errorf("%s: got %d lines, want %d", service, len(got[service]), n)
		}
		for i, l := range got[service] {
			if i < 3 {
				t.Logf("%s: %+v", service, l)
			}
		}
	}
	if first := got["billing"][0]; first.Msg != "billing is up" || first.TaskID != "" || first.Level != "info" {
		t.Errorf("got %+v", first)
	}
}

// consume reads the topic and validates each record against the schema. It
// waits until n records have arrived, which were logged after began.
func consume(t *testing.T, addrs []string, n int, began time.Time) map[string][]contract.Line {
	t.Helper()
	check := compile(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for {
		lines, total := map[string][]contract.Line{}, 0
		err := topic.Read(ctx, addrs, "logs", func(m topic.Message) bool {
			total++
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(m.Value))
			if err == nil {
				err = check.Validate(v)
			}
			if err != nil {
				t.Errorf("%s: %v", m.Value, err)
			}
			var l contract.Line
			if err := json.Unmarshal(m.Value, &l); err != nil {
				t.Errorf("%s: %v", m.Value, err)
			}
			at, err := time.ParseInLocation("2006-01-02 15:04:05", l.LogDate, contract.Zone)
			now := time.Now().Round(0)
			if err != nil || min(now.Sub(at), began.Sub(at)) > time.Hour || max(now.Sub(at), began.Sub(at)) < -time.Hour {
				t.Errorf("%s: log_date is not in the agreed zone: %v", m.Value, err)
			}
			lines[l.Service] = append(lines[l.Service], l)
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		if total >= n {
			return lines
		}
	}
}

func compile(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(contract.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("line.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("line.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}
