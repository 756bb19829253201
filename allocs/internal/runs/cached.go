// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nib-log/nib/allocs/internal/cachefile"
)

// Run measures the benchmarks and tests of the binary, and returns a result for
// each leaf, with the reason if it failed. Results are kept in cache, a
// directory, by the content of the binary and with its inputs: the same program
// on the same inputs allocates the same. A leaf that failed is measured again,
// unless it exceeded its processor time, which does not depend on files,
// servers or other processes.
func (b *Binary) Run(ctx context.Context, o Options, cache string) ([]Result, error) {
	var all []Result
	left := o.allowance()
	for _, name := range b.Names {
		all = append(all, b.through(ctx, o, name, cache, left)...)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return b.named(all), nil
}

// kept is the cached result of a benchmark function with all its leaves, or of
// a test.
type kept struct {
	Results []Result
	Used    time.Duration // processor time; a cached result counts as much towards --timeout
	Inputs  inputs
}

// through measures the missing results of a benchmark function or a test.
func (b *Binary) through(ctx context.Context, o Options, name, cache string, left *allowance) []Result {
	file := b.keptName(cache, "result", name, o.Budget, o.give())
	var k kept
	known := cachefile.Read(file, &k) && k.Inputs.same()
	if !known {
		k = kept{}
	}
	have := slices.DeleteFunc(slices.Clone(k.Results), func(r Result) bool { return !r.lasts(left.cpu) })
	if known && len(have) == len(k.Results) {
		left.cpu -= k.Used
		return have
	}
	of := *left
	b.read = inputs{}
	maps.Copy(b.read, k.Inputs)
	results := b.unit(ctx, o, name, have, left)
	used := max(of.cpu-left.cpu, k.Used)
	left.cpu = of.cpu - used
	if ctx.Err() == nil && of.err() == nil {
		cachefile.Write(file, kept{results, used, b.read})
	}
	return results
}

// lasts reports whether another run would have this result too, with so much
// processor time left.
func (r *Result) lasts(left time.Duration) bool {
	return r.Failed == "" || r.Slow || r.Within > 0 && left <= r.Within
}

func (b *Binary) named(all []Result) []Result {
	for i := range all {
		all[i].Package = b.Package.ImportPath
	}
	return all
}

// keptName returns the cache file of this binary for a key, or "".
func (b *Binary) keptName(cache string, key ...any) string {
	if cache == "" {
		return ""
	}
	if b.sum == "" {
		f, err := os.Open(b.Path)
		if err != nil {
			return ""
		}
		defer f.Close()
		h := sha256.New()
		if _, err := io.Copy(h, f); err != nil {
			return ""
		}
		b.sum = string(h.Sum(nil))
	}
	h := sha256.New()
	fmt.Fprintf(h, "runs-19\x00%s\x00%s", b.sum, b.Package.Dir)
	for _, k := range key {
		fmt.Fprintf(h, "\x00%v", k)
	}
	return filepath.Join(cache, "runs", hex.EncodeToString(h.Sum(nil))+".json")
}
