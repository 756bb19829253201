// SPDX-License-Identifier: Apache-2.0

package setup_test

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/metrics"
	"github.com/nib-log/nib/setup"
)

// TestMetricsOfAllOutputs opens outputs of each kind and looks for their
// counters.
func TestMetricsOfAllOutputs(t *testing.T) {
	dir := t.TempDir()
	path, behind, home := filepath.Join(dir, "a.log"), filepath.Join(dir, "b.log"), filepath.Join(dir, "spool")
	log, err := setup.Open(setup.Config{
		Output: []string{
			"file:" + path + "?format=console",
			"file:" + behind + "?spool=" + home + "&level=warn",
		},
		Signals: setup.SwitchOff, Default: setup.SwitchOff,
	})
	must.Succeed(t, err)
	defer log.Close()
	log.Info().Msg("one")
	log.Warn().Msg("two")
	must.Succeed(t, log.Flush(t.Context()))
	var text strings.Builder
	must.Succeed(t, metrics.WritePrometheus(&text, log))
	for _, want := range []string{
		`nib_file_lines_total{branch="0",level="info",path="` + path + `"} 1`,
		`nib_file_lines_total{branch="0",level="warn",path="` + path + `"} 1`,
		`nib_route_lines_total{branch="1/1"} 1`,
		`nib_spool_lines_total{branch="1/1",spool="` + home + `"} 1`,
		`nib_spool_pending_lines{branch="1/1",destination="file",spool="` + home + `"} 0`,
		`nib_file_lines_total{branch="1/1",level="warn",path="` + behind + `"} 1`,
	} {
		if !strings.Contains(text.String(), want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	if t.Failed() {
		t.Log(text.String())
	}
}

// TestSpooledDestinationsAreNamedByKind opens several destinations of a kind:
// their series differ, and an alert names the blocked one.
func TestSpooledDestinationsAreNamedByKind(t *testing.T) {
	dir := t.TempDir()
	log, err := setup.Open(setup.Config{
		Output: []string{
			"syslog+tcp://127.0.0.1:1?spool=memory",
			"file:" + filepath.Join(dir, "plain.log"),
			"file:" + filepath.Join(dir, "b.log") + "?spool=memory",
			"syslog+unix:///run/none?spool=" + filepath.Join(dir, "unix"),
			"syslog+relp://127.0.0.1:1?spool=memory",
			"spool:" + filepath.Join(dir, "kept"),
		},
		Signals: setup.SwitchOff, Default: setup.SwitchOff,
	})
	must.Succeed(t, err)
	defer log.Close()
	got := map[string]string{}
	for m := range log.Metrics() {
		if m.Name != "nib_spool_pending_lines" {
			continue
		}
		of := map[string]string{}
		for _, l := range m.Labels {
			of[l.Name] = l.Value
		}
		got[of["branch"]] = of["destination"]
	}
	want := map[string]string{"0": "syslog", "2": "file", "3": "syslog-2", "4": "syslog-3", "5": "spool"}
	if !maps.Equal(got, want) {
		t.Errorf("got the destinations %v, want %v", got, want)
	}
}
