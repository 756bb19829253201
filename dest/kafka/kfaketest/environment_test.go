// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/dest/kafka/topic"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/setup"
	"github.com/nib-log/nib/sink/spool"
)

// A service configured only by a variable, or a file, delivers to a topic, and
// leaves nothing in its spool. The next process continues where the first one
// ended.
func TestServiceByEnvironment(t *testing.T) {
	c := start(t, 1)
	dir := t.TempDir()
	to := "kafka://" + strings.Join(c.ListenAddrs(), ",") + "/" + logs
	file := filepath.Join(t.TempDir(), "log.json")
	must.Succeed(t, os.WriteFile(file,
		[]byte(`{"output": {"to": "`+to+`", "compression": "zstd", "spool": "`+dir+`"}}`), 0o600))
	for i, variables := range []map[string]string{
		{"NIB_OUTPUT": to + "?compression=zstd&spool=" + dir},
		{"NIB_CONFIG": file, "NIB_OUTPUT": ""},
		{"NIB_OUTPUT": to + "?spool=memory"},
	} {
		for name, value := range variables {
			t.Setenv(name, value)
		}
		log, err := setup.Open(setup.FromEnv("NIB"), setup.Kinds(Kind), setup.Config{Signals: setup.SwitchOff, Timeout: testTimeout})
		must.Succeed(t, err)
		for k := range 100 {
			log.Info().Int("process", i).Int("k", k).Msg("line")
		}
		must.Succeed(t, log.Close())
	}
	n := 0
	err := topic.Read(t.Context(), c.ListenAddrs(), logs, func(m topic.Message) bool {
		if want := fmt.Sprintf(`"process":%d,"k":%d,"message":"line"}`, n/100, n%100); !strings.HasSuffix(string(m.Value), want) {
			t.Errorf("record %d: got %s, want …%s", n, m.Value, want)
		}
		n++
		return true
	})
	if err != nil || n != 300 {
		t.Errorf("got %d records, %v, want 300", n, err)
	}
	slots, err := spool.Find(dir)
	if err != nil || len(slots) == 0 {
		t.Fatalf("got spools %q, %v", slots, err)
	}
	for _, slot := range slots {
		if v, err := spool.Inspect(slot); err != nil || v.Pending("destination") != 0 {
			t.Errorf("got %+v, %v, want nothing pending", v, err)
		}
	}
}
