// SPDX-License-Identifier: Apache-2.0

package golangci_test

import (
	"strings"
	"testing"

	"github.com/golangci/plugin-module-register/register"

	"github.com/nib-log/nib/allocs/analysis"
	"github.com/nib-log/nib/allocs/analysis/golangci"
)

func TestPlugin(t *testing.T) {
	newPlugin, err := register.GetPlugin(golangci.Name)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		settings any
		want     int
		err      string
	}{
		{"no settings", nil, len(analysis.Analyzers), ""},
		{"some", map[string]any{"enable": []string{"poolvalue", "eventsend"}}, 2, ""},
		{"all but one", map[string]any{"disable": []string{"poolvalue"}}, len(analysis.Analyzers) - 1, ""},
		{"a name that is wrong", map[string]any{"disable": []string{"poolvalues"}}, 0, "no check poolvalues"},
		{"a setting that is wrong", map[string]any{"dissable": []string{}}, 0, "dissable"},
	} {
		p, err := newPlugin(c.settings)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got error %v, want %q in it", c.name, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, err := p.BuildAnalyzers()
		if err != nil || len(got) != c.want || p.GetLoadMode() != register.LoadModeTypesInfo {
			t.Errorf("%s: got %d checks, mode %s, %v; want %d", c.name, len(got), p.GetLoadMode(), err, c.want)
		}
	}
}
