// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"sort"
	"strings"

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// The parts of SARIF 2.1.0 that code hosts show.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool        `json:"tool"`
		Results    []sarifResult    `json:"results"`
		Properties findings.Summary `json:"properties"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		URI   string      `json:"informationUri"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
		Help  sarifText `json:"help"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId"`
	}
	sarifRegion struct {
		Line int `json:"startLine"`
	}
)

// allocating returns the first of the sites that always allocates, or nil.
func allocating(same []*findings.Site) *findings.Site {
	for _, s := range same {
		if s.Worst() == verdict.Always {
			return s
		}
	}
	return nil
}

// SARIF writes the sites that always allocate as SARIF 2.1.0, each once: as an
// error where the gate fails, as a note elsewhere. The numbers of the other
// reports are properties of the run.
func SARIF(w io.Writer, d *findings.Document, o *baseline.Outcome) error {
	bad := map[string]bool{}
	for _, c := range o.Worse {
		bad[c.Root+"\x00"+c.Site] = true
	}
	above := map[*findings.Site]*findings.Root{}
	for _, r := range d.Roots {
		for _, s := range r.Sites {
			above[s] = r
		}
	}
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "allocs", URI: "https://github.com/nib-log/nib", Rules: []sarifRule{}}},
		Results: []sarifResult{}, Properties: d.Summary}
	rules := map[string]sarifRule{}
	for _, same := range d.Same() {
		s, from, level := allocating(same), 0, "note"
		for _, x := range same {
			if x.Worst() == verdict.Always {
				from++
			}
			if bad[above[x].ID+"\x00"+x.Key] {
				level = "error"
			}
		}
		if s == nil {
			continue
		}
		id := s.Pattern
		if id == "" {
			id = s.Kind
		}
		if rules[id].Help.Text == "" {
			rules[id] = sarifRule{id, sarifText{strings.ReplaceAll(id, "-", " ")}, sarifText{s.Fix}}
		}
		what := strings.TrimPrefix(values(group{s})+": "+s.Reason, ": ")
		roots := above[s].ID
		if from > 1 {
			roots += " and " + count(from-1, "more root")
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: id, Level: level, Message: sarifText{strings.TrimSpace(fmt.Sprintf("%s (below %s). %s", what, roots, s.Fix))},
			Locations:    []sarifLocation{{sarifPhysical{sarifArtifact{(&url.URL{Path: s.File}).EscapedPath(), "%SRCROOT%"}, sarifRegion{s.Line}}}},
			Fingerprints: map[string]string{"allocs/v2": s.Key},
		})
	}
	for _, rule := range rules {
		if rule.Help.Text == "" {
			rule.Help = rule.Short
		}
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, rule)
	}
	sort.Slice(run.Tool.Driver.Rules, func(i, j int) bool { return run.Tool.Driver.Rules[i].ID < run.Tool.Driver.Rules[j].ID })
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}
