// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/verdict"
)

// answer is the part of allocs --json that is evaluated.
type answer struct {
	Toolchains []struct {
		Name    string   `json:"name"`
		Trouble []string `json:"trouble"`
	} `json:"toolchains"`
	Roots []struct {
		Func       string `json:"function"`
		Unfollowed []int  `json:"unfollowed"` // calls, by toolchain
		Sites      []site `json:"sites"`
	} `json:"roots"`
}

type site struct {
	File     string          `json:"file"`
	Line     int             `json:"line"`
	Source   string          `json:"source"`
	Verdict  verdict.Verdict `json:"verdict"`
	Kind     string          `json:"kind"`
	Callee   string          `json:"callee"`
	Value    string          `json:"value"`
	Pattern  string          `json:"pattern"`
	Reason   string          `json:"reason"`
	Evidence *struct {
		Runs []struct {
			Name  string  `json:"name"`
			PerOp float64 `json:"per_op"`
		} `json:"runs"`
	} `json:"evidence"`
}

// Report is the tool's report on a module.
type Report struct {
	Go    string
	Roots int
	Sites map[line][]site // the worst verdict of a line first
	// Unfollowed are the roots that have calls which the report lists as
	// not followed.
	Unfollowed map[string]bool
	// PerOp has the counts of the tool's own runs, by benchmark and line.
	PerOp   map[string]map[line]float64
	Trouble []string
}

// tool is the built command.
type tool struct{ path, sum string }

// build builds allocs below dir.
func build(ctx context.Context, allocsDir, dir string) (*tool, error) {
	path := filepath.Join(dir, "allocs")
	if _, err := run(ctx, allocsDir, []string{"GOFLAGS=-buildvcs=false"}, "go", "build", "-trimpath", "-o", path, "./cmd/allocs"); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return &tool{path, fmt.Sprintf("%x", sha256.Sum256(text))}, nil
}

// ask runs the tool on the module in dir: with its benchmarks, or with the code
// and the compiler alone.
func (t *tool) ask(ctx context.Context, m *Module, dir string, runs bool) (*Report, error) {
	args := []string{"-C", dir, "--plain", "--no-cache", "--json", "--log-calls=false", "--bench", ""}
	if runs {
		args[len(args)-1] = m.Bench
	}
	for _, r := range m.Roots {
		args = append(args, "--root", r)
	}
	cmd := exec.CommandContext(ctx, t.path, append(args, m.Package)...)
	var errs strings.Builder
	cmd.Stderr = &errs
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	text, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		return nil, fmt.Errorf("%s: %w\n%s", m.Name, err, errs.String())
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, err
	}
	return a.report(), nil
}

func (a *answer) report() *Report {
	r := &Report{Roots: len(a.Roots), Sites: map[line][]site{}, Unfollowed: map[string]bool{}, PerOp: map[string]map[line]float64{}}
	for _, t := range a.Toolchains {
		r.Go, r.Trouble = t.Name, append(r.Trouble, t.Trouble...)
	}
	type counted struct {
		of, kind, callee, value string
		at                      line
	}
	most := map[counted]float64{} // a site can be below several roots
	for _, root := range a.Roots {
		if slices.Max(append(root.Unfollowed, 0)) > 0 {
			r.Unfollowed[root.Func] = true
		}
		for _, s := range root.Sites {
			at := line{s.File, s.Line}
			if have := r.Sites[at]; len(have) > 0 && s.Verdict.Rank() > have[0].Verdict.Rank() {
				r.Sites[at] = append([]site{s}, have...)
			} else {
				r.Sites[at] = append(have, s)
			}
			if s.Evidence == nil {
				continue
			}
			for _, run := range s.Evidence.Runs {
				k := counted{run.Name, s.Kind, s.Callee, s.Value, at}
				most[k] = max(most[k], run.PerOp)
			}
		}
	}
	for k, n := range most {
		if r.PerOp[k.of] == nil {
			r.PerOp[k.of] = map[line]float64{}
		}
		r.PerOp[k.of][k.at] += n
	}
	return r
}

// verdict returns the worst verdict of a line.
func (r *Report) verdict(l line) verdict.Verdict {
	if s := r.Sites[l]; len(s) > 0 {
		return s[0].Verdict
	}
	return verdict.None
}
