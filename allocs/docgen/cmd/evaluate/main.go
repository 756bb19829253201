// SPDX-License-Identifier: Apache-2.0

// Evaluate measures how right allocs is on code that was written without it,
// and writes the table of docs/zero-alloc-evidence.md. Run it in allocs/docgen:
//
//	go run ./cmd/evaluate -write ../../docs/zero-alloc-evidence.md
//
// With -keep DIR, results are kept, so that -only can evaluate some modules at a
// time; the last run, without -only, writes the table of all.
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
	reasons := flag.Bool("reasons", false, "also print what is said of each line")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, regexp.MustCompile(*only), *write, *keep, *reasons); err != nil {
		fmt.Fprintln(os.Stderr, "evaluate:", err)
		os.Exit(1)
	}
}

// result evaluates a module, unless its result is kept.
func result(ctx context.Context, m evaluate.Module, keep string) (*evaluate.Result, error) {
	if keep != "" {
		if r, err := evaluate.Kept(keep, m); r != nil || err != nil {
			return r, err
		}
	}
	dir, err := os.MkdirTemp("", "allocs-evaluate-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	r, err := evaluate.Evaluate(ctx, m, "..", dir, func(what string) { fmt.Fprintln(os.Stderr, what) })
	if err == nil && keep != "" {
		err = evaluate.Keep(keep, r)
	}
	return r, err
}

func run(ctx context.Context, only *regexp.Regexp, write, keep string, reasons bool) error {
	var results []*evaluate.Result
	for _, m := range evaluate.Modules {
		if !only.MatchString(m.Name) {
			continue
		}
		r, err := result(ctx, m, keep)
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
