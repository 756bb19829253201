// SPDX-License-Identifier: Apache-2.0

// Command table turns the stored results of the benchmark into the tables of
// README.md and of the documents in docs, and the chart docs/bench.svg. Run it
// within the bench module:
//
//	go run ./cmd/table          # rewrite the documents
//	go run ./cmd/table -check   # only tell which are out of date, and fail
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nib-log/nib/bench/report"
)

func main() {
	check := flag.Bool("check", false, "write nothing, fail if a document is out of date")
	results := flag.String("results", "results", "`directory` of the stored results")
	root := flag.String("root", "..", "`directory` of the repository")
	flag.Parse()
	if err := generate(*results, *root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func generate(results, root string, check bool) error {
	var errs []error
	for i := range report.Documents {
		d := &report.Documents[i]
		families, err := report.Load(results, d.Set)
		if d.Set != report.Calls && errors.Is(err, fs.ErrNotExist) {
			continue // this set was not measured
		}
		if err == nil {
			err = update(d, families, root, check)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func update(d *report.Document, families report.Families, root string, check bool) error {
	path := filepath.Join(root, filepath.FromSlash(d.Path))
	present, err := os.ReadFile(path)
	if err != nil && (d.Region || !errors.Is(err, fs.ErrNotExist)) {
		return err
	}
	want, err := d.Render(families, string(present))
	if err != nil || want == string(present) {
		return err
	}
	if check {
		return fmt.Errorf("%s is out of date; run go run ./cmd/table in bench", d.Path)
	}
	fmt.Println("writes", d.Path)
	return os.WriteFile(path, []byte(want), 0o644)
}
