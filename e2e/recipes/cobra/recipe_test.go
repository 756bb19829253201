// SPDX-License-Identifier: Apache-2.0

package cobra

import (
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/e2e/recipes/orders"
	"github.com/nib-log/nib/nibtest"
	"github.com/nib-log/nib/setup"
)

func TestCommands(t *testing.T) {
	for _, tt := range []struct {
		name  string
		args  []string
		fails string
		want  map[string]any
		lines int
	}{
		{"debug", []string{"import", "--log-level", "debug", "a.csv"}, "", map[string]any{"level": "info", "job": "shop import", "file": "a.csv"}, 2},
		{"failure", []string{"import", "-"}, "standard input is empty", map[string]any{"level": "error", "error": "standard input is empty"}, 1},
		{"level", []string{"import", "--log-level", "warn", "a.csv"}, "", nil, 0},
		{"mistake", []string{"import", "--log-level", "loud", "a.csv"}, `nib/setup: Config.Level: nib: rule "loud": nib: unknown level "loud" (want trace, debug, info, warn, error, panic or fatal, as in "info+2")`, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var rec nibtest.Recorder
			c := Command(setup.Config{Sinks: []nib.Sink{&rec}})
			c.SetArgs(tt.args)
			text := ""
			if err := c.ExecuteContext(t.Context()); err != nil {
				text = err.Error()
			}
			if text != tt.fails || rec.Len() != tt.lines {
				t.Errorf("got error %q and %q, want %q and %d lines", text, rec.Lines(), tt.fails, tt.lines)
			}
			orders.Check(t, rec.Find("job"), tt.want)
		})
	}
}
