// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// checkExpression parses a query and looks for each metric that it names.
func checkExpression(t *testing.T, where, query string, known families) (used int) {
	t.Helper()
	query = strings.ReplaceAll(query, "$__rate_interval", "5m")
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return 0
	}
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if v, ok := n.(*parser.VectorSelector); ok {
			used++
			if _, ok := known[v.Name]; !ok {
				t.Errorf("%s: there is no metric %s", where, v.Name)
			}
		}
		if b, ok := n.(*parser.BinaryExpr); ok && b.VectorMatching != nil && b.VectorMatching.On {
			// Spools in memory have the same spool label, "".
			if on := b.VectorMatching.MatchingLabels; slices.Contains(on, "spool") && !slices.Contains(on, "branch") {
				t.Errorf("%s: on (%s) matches several spools in memory: it lacks branch", where, strings.Join(on, ", "))
			}
		}
		return nil
	})
	return used
}

func TestAlertsUseMetricsThatExist(t *testing.T) {
	known := newService(t).families()
	groups, errs := rulefmt.ParseFile("../../docs/alerts.yml", false, model.UTF8Validation, parser.NewParser(parser.Options{}), nil)
	must(t, errs...)
	alerts := 0
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			alerts++
			if checkExpression(t, r.Alert, r.Expr, known) == 0 || r.Annotations["summary"] == "" {
				t.Errorf("%s uses no metric, or has no summary", r.Alert)
			}
		}
	}
	if alerts != 5 {
		t.Errorf("got %d alerts, want 5", alerts)
	}
}

func TestDashboardUsesMetricsThatExist(t *testing.T) {
	known := newService(t).families()
	text, err := os.ReadFile("../../docs/grafana.json")
	must(t, err)
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct {
			List []struct{ Name, Query string }
		}
	}
	must(t, json.Unmarshal(text, &board))
	for _, p := range board.Panels {
		if p.Title == "" || len(p.Targets) == 0 {
			t.Errorf("a panel has no title or no query: %+v", p)
		}
		for _, q := range p.Targets {
			checkExpression(t, p.Title, q.Expr, known)
		}
	}
	if len(board.Panels) < 8 || len(board.Templating.List) != 3 {
		t.Errorf("got %d panels and %d variables", len(board.Panels), len(board.Templating.List))
	}
}

func TestCheckExpressionFindsFaults(t *testing.T) {
	known := newService(t).families()
	for _, query := range []string{"sum(", "rate(nib_no_such_total[5m])", "nib_spool_pending_bytes > on (spool) nib_spool_disk_bytes"} {
		inner := new(testing.T)
		if checkExpression(inner, "x", query, known); !inner.Failed() {
			t.Errorf("%s: no fault was found", query)
		}
	}
}
