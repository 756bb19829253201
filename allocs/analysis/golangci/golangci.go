// SPDX-License-Identifier: Apache-2.0

// Package golangci registers the checks with golangci-lint. Only programs that
// golangci-lint custom builds import it.
package golangci

import (
	"fmt"

	"github.com/golangci/plugin-module-register/register"
	goanalysis "golang.org/x/tools/go/analysis"

	"github.com/nib-log/nib/allocs/analysis"
)

// Name is the name of the checks in .golangci.yml.
const Name = "allocs"

func init() { register.Plugin(Name, New) }

// Settings is the section of .golangci.yml for the checks. Without settings,
// all checks run.
type Settings struct {
	Enable  []string `json:"enable"`  // run only these checks
	Disable []string `json:"disable"` // do not run these checks
}

// New makes the plugin. It is called by golangci-lint.
func New(settings any) (register.LinterPlugin, error) {
	s, err := register.DecodeSettings[Settings](settings)
	if err != nil {
		return nil, err
	}
	p := &plugin{}
	enable, disable := set(s.Enable), set(s.Disable)
	some := len(enable) > 0
	for _, a := range analysis.Analyzers {
		if (!some || enable[a.Name]) && !disable[a.Name] {
			p.analyzers = append(p.analyzers, a)
		}
		delete(enable, a.Name)
		delete(disable, a.Name)
	}
	for name := range enable {
		return nil, fmt.Errorf("allocs: there is no check %s", name)
	}
	for name := range disable {
		return nil, fmt.Errorf("allocs: there is no check %s", name)
	}
	return p, nil
}

func set(names []string) map[string]bool {
	m := map[string]bool{}
	for _, n := range names {
		m[n] = true
	}
	return m
}

type plugin struct{ analyzers []*goanalysis.Analyzer }

func (p *plugin) BuildAnalyzers() ([]*goanalysis.Analyzer, error) { return p.analyzers, nil }

func (p *plugin) GetLoadMode() string { return register.LoadModeTypesInfo }
