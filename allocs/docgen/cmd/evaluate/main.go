// SPDX-License-Identifier: Apache-2.0

// Evaluate measures how accurate allocs is on code that was not written with
// it, and writes the table of docs/zero-alloc-evidence.md. Run it in
// allocs/docgen:
//
//	go run ./cmd/evaluate -write ../../docs/zero-alloc-evidence.md
//
// With -keep DIR, measurements and the reports of the tool are kept, so that
// -only can evaluate some modules at a time; the last run, without -only,
// writes the table of all. If the build of the tool has changed, it runs again,
// unless -stale is set.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"

	"github.com/nib-log/nib/allocs/docgen/internal/evaluate"
)

func main() {
	only := flag.String("only", ".", "expression for the names of the modules")
	write := flag.String("write", "", "document to write the table to")
	keep := flag.String("keep", "", "directory to keep results in, and to take them from")
	stale := flag.Bool("stale", false, "also use the reports of another build of the tool")
	reasons := flag.Bool("reasons", false, "also print what is said of each line")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	e := &evaluate.Evaluator{Dir: "..", Store: evaluate.Store(*keep), Stale: *stale, Say: func(what string) { fmt.Fprintln(os.Stderr, what) }}
	if err := run(ctx, e, regexp.MustCompile(*only), *write, *reasons); err != nil {
		fmt.Fprintln(os.Stderr, "evaluate:", err)
		os.Exit(1)
	}
}

func result(ctx context.Context, e *evaluate.Evaluator, m evaluate.Module) (*evaluate.Result, error) {
	dir, err := os.MkdirTemp("", "allocs-evaluate-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	return e.Evaluate(ctx, m, dir)
}

func run(ctx context.Context, e *evaluate.Evaluator, only *regexp.Regexp, write string, reasons bool) error {
	var results []*evaluate.Result
	for _, m := range evaluate.Modules {
		if !only.MatchString(m.Name) {
			continue
		}
		r, err := result(ctx, e, m)
		if err != nil {
			return err
		}
		for _, t := range r.Trouble {
			fmt.Fprintln(os.Stderr, m.Name+": trouble:", t)
		}
		results = append(results, r)
	}
	table := evaluate.Table(results)
	fmt.Print(table)
	if reasons {
		fmt.Print("\n", evaluate.Reasons(results))
	}
	if write == "" {
		return nil
	}
	return evaluate.Write(write, table)
}
