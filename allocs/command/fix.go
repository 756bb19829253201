// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/nib-log/nib/allocs/internal/check"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/fixes"
	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/source"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// fixing is one run with --fix.
type fixing struct {
	*flags
	w      io.Writer
	before *check.Report
	counts []fixes.Counts // the counts of before, for each toolchain
	// suspect is set if the fixes save less together than at their lines;
	// they are then measured one by one, once.
	suspect bool
}

// fix applies rewrites that are known to be better, measures again, and keeps
// an edit only if the benchmark that allocates most there then allocates less.
// It returns the report on the final source.
func (f *flags) fix(ctx context.Context, w io.Writer, before *check.Report, d *findings.Document) (*check.Report, error) {
	x := &fixing{flags: f, w: w, before: before, counts: counts(before)}
	places := x.places(d)
	all, err := fixes.Find(ctx, f.Dir, before.Patterns, func(p fixes.Place) bool { return places[p] })
	if err != nil {
		return nil, err
	}
	if all, err = x.tested(ctx, all); err != nil {
		return nil, err
	}
	for len(all) > 0 {
		applied, after, err := x.apply(ctx, all)
		if errors.Is(err, load.ErrBroken) {
			if all, err = x.compiling(ctx, all, err); err == nil {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		helped, claims := x.judge(all, applied, counts(after))
		if len(helped) == len(all) && !x.suspect {
			if helped, err = x.passing(ctx, all); err == nil && len(helped) == len(all) {
				for i, f := range all {
					x.say(true, f, claims[i])
				}
				return after, nil
			}
		}
		if err := errors.Join(err, fixes.Undo(applied.Edits)); err != nil {
			return nil, err
		}
		if all = helped; x.suspect {
			if all, err = x.alone(ctx, all); err != nil {
				return nil, err
			}
		}
	}
	fmt.Fprintln(w, "nothing was rewritten: no line that a benchmark counts at has a form that is known to be better")
	return before, nil
}

func counts(r *check.Report) (out []fixes.Counts) {
	for _, t := range r.Toolchains {
		out = append(out, fixes.Count(t.Runs, r.Holds))
	}
	return out
}

// places returns the lines at which a run counts allocations in steady state.
func (x *fixing) places(d *findings.Document) map[fixes.Place]bool {
	out, files := map[fixes.Place]bool{}, source.New()
	for _, r := range d.Roots {
		for _, s := range r.Sites {
			file := s.File
			if !filepath.IsAbs(file) {
				file = filepath.Join(d.Dir, filepath.FromSlash(file))
			}
			if s.Worst() == verdict.Always && s.PerOp() >= enough && files.Cold(file, s.Line) == "" {
				out[fixes.Place{File: file, Line: s.Line}] = true
			}
		}
	}
	return out
}

// enough is the number of allocations per operation that an edit must save.
const enough = 0.5

// tested leaves out the fixes in packages whose tests fail without them: the
// tests could not show whether a fix breaks something.
func (x *fixing) tested(ctx context.Context, all []fixes.Fix) (out []fixes.Fix, err error) {
	failed := map[string]error{}
	for _, f := range all {
		if _, ok := failed[f.Package]; !ok {
			if failed[f.Package] = x.test(ctx, f.Package); ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		if failed[f.Package] != nil {
			x.say(false, f, "the tests of "+f.Package+" fail without it")
			continue
		}
		out = append(out, f)
	}
	return out, nil
}

// test runs the tests of a package.
func (x *fixing) test(ctx context.Context, pkg string) error {
	_, err := x.before.Toolchains[0].Toolchain.Go(ctx, x.Dir, "test", "-timeout", x.Timeout.String(), "--", pkg)
	return err
}

// apply writes the fixes and checks the module again. Fixes that do not compile
// or cannot be judged are undone.
func (x *fixing) apply(ctx context.Context, list []fixes.Fix) (*fixes.Applied, *check.Report, error) {
	applied, err := fixes.Apply(list)
	if err != nil {
		return nil, nil, err
	}
	if err := fixes.Write(applied.Edits); err != nil {
		return nil, nil, errors.Join(err, fixes.Undo(applied.Edits))
	}
	after, err := check.Run(ctx, x.Options)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("the fixes were taken back: %w", err), fixes.Undo(applied.Edits))
	}
	return applied, after, nil
}

// compiling returns the fixes with which their packages compile one by one, or
// the error why if all of them do.
func (x *fixing) compiling(ctx context.Context, list []fixes.Fix, why error) (out []fixes.Fix, err error) {
	for _, f := range list {
		applied, err := fixes.Apply([]fixes.Fix{f})
		if err != nil {
			return nil, err
		}
		err = fixes.Write(applied.Edits)
		if err == nil {
			_, err = x.before.Toolchains[0].Toolchain.Go(ctx, x.Dir, "build", "-o", os.DevNull, "--", f.Package)
		}
		if undo := errors.Join(ctx.Err(), fixes.Undo(applied.Edits)); undo != nil {
			return nil, undo
		}
		if err != nil {
			x.say(false, f, f.Package+" does not compile with it")
			continue
		}
		out = append(out, f)
	}
	if len(out) == len(list) {
		return nil, why
	}
	return out, nil
}

// judge returns the fixes that helped, and by how much.
func (x *fixing) judge(list []fixes.Fix, applied *fixes.Applied, after []fixes.Counts) (helped []fixes.Fix, claims []string) {
	saved := map[string]float64{} // allocations saved, by leaf
	for i, f := range list {
		if applied.Lines[i] == nil {
			x.say(false, f, "another edit changes the same lines")
			continue
		}
		n, claim, ok := x.compare(f, applied.Lines[i], after)
		if !ok {
			x.say(false, f, claim)
			continue
		}
		for leaf, less := range n {
			saved[leaf] += less
		}
		helped, claims = append(helped, f), append(claims, claim)
	}
	x.suspect = !x.suspect && len(helped) == len(list) && x.moved(saved, after)
	if x.suspect {
		claims = nil
	}
	return helped, claims
}

// compare returns how much less each leaf allocates at the lines of a fix, and
// describes the leaf that allocates most. All toolchains must agree that
// nothing gets worse.
func (x *fixing) compare(f fixes.Fix, lines []int, after []fixes.Counts) (less map[string]float64, claim string, ok bool) {
	less = map[string]float64{}
	most := 0.0
	for t, before := range x.counts {
		leaf, was := before.Worst(f.File, f.Lines)
		if was == 0 {
			continue
		}
		now := after[t][leaf]
		if now == nil {
			return nil, leaf + " cannot be measured with it", false
		}
		is := now.At(f.File, lines)
		if was-is > most {
			most = was - is
		}
		if text := fmt.Sprintf("%s → %s allocations per operation of %s", number(was), number(is), leaf); claim == "" || was-is >= most {
			claim = text
		}
		if is > was+stray {
			return nil, claim, false
		}
		for name, l := range before {
			if now := after[t][name]; now != nil {
				less[strconv.Itoa(t)+" "+name] += l.At(f.File, f.Lines) - now.At(f.File, lines)
			}
		}
	}
	if claim == "" {
		claim = "no benchmark counts at its lines"
	}
	return less, claim, most >= enough
}

// stray is the count that other goroutines can add.
const stray = 0.05

// moved reports whether a leaf as a whole saves less than its lines do: then an
// edit makes something else allocate.
func (x *fixing) moved(saved map[string]float64, after []fixes.Counts) bool {
	for t, before := range x.counts {
		for name, l := range before {
			now := after[t][name]
			if less := saved[strconv.Itoa(t)+" "+name]; now != nil && less >= enough && l.Total-now.Total < less-enough {
				return true
			}
		}
	}
	return false
}

// alone measures each fix separately, and keeps those that make every benchmark
// at their lines allocate less as a whole.
func (x *fixing) alone(ctx context.Context, list []fixes.Fix) (helped []fixes.Fix, err error) {
	for _, f := range list {
		applied, after, err := x.apply(ctx, []fixes.Fix{f})
		if err != nil {
			return nil, err
		}
		less, claim, ok := x.compare(f, applied.Lines[0], counts(after))
		if ok && x.moved(less, counts(after)) {
			ok, claim = false, "the allocations that it saves are made elsewhere"
		}
		if err := fixes.Undo(applied.Edits); err != nil {
			return nil, err
		}
		if !ok {
			x.say(false, f, claim)
			continue
		}
		helped = append(helped, f)
	}
	return helped, nil
}

// passing returns the fixes of the packages whose tests pass with all fixes
// applied.
func (x *fixing) passing(ctx context.Context, list []fixes.Fix) (out []fixes.Fix, err error) {
	failed := map[string]error{}
	for _, f := range list {
		if _, done := failed[f.Package]; !done {
			failed[f.Package] = x.test(ctx, f.Package)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if failed[f.Package] != nil {
			x.say(false, f, "the tests of "+f.Package+" fail with the edits of that package")
			continue
		}
		out = append(out, f)
	}
	return out, nil
}

// say reports the outcome of a fix.
func (x *fixing) say(done bool, f fixes.Fix, why string) {
	verb := "left alone: "
	if done {
		verb = "rewritten:  "
	}
	name, err := filepath.Rel(x.before.ModuleDir, f.File)
	if err != nil {
		name = f.File
	}
	fmt.Fprintf(x.w, "%s%s:%d: %s: %s\n", verb, filepath.ToSlash(name), f.Line, f.Message, why)
}

// number formats a count without insignificant digits.
func number(n float64) string { return strconv.FormatFloat(math.Round(n*100)/100, 'g', 4, 64) }
