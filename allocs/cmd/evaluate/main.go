// SPDX-License-Identifier: Apache-2.0

// Evaluate measures how right allocs is on code that was written without it,
// and writes the table of docs/zero-alloc-evidence.md. Run it in allocs/:
//
//	go run ./cmd/evaluate -write ../docs/zero-alloc-evidence.md
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"

	"github.com/nib-log/nib/allocs/internal/evaluate"
)

func main() {
	only := flag.String("only", ".", "expression for the names of the modules")
	write := flag.String("write", "", "document to write the table to")
	reasons := flag.Bool("reasons", false, "also print what is said of each line")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, regexp.MustCompile(*only), *write, *reasons); err != nil {
		fmt.Fprintln(os.Stderr, "evaluate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only *regexp.Regexp, write string, reasons bool) error {
	var results []*evaluate.Result
	for _, m := range evaluate.Modules {
		if !only.MatchString(m.Name) {
			continue
		}
		dir, err := os.MkdirTemp("", "allocs-evaluate-")
		if err != nil {
			return err
		}
		r, err := evaluate.Evaluate(ctx, m, ".", dir, func(what string) { fmt.Fprintln(os.Stderr, what) })
		os.RemoveAll(dir)
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
