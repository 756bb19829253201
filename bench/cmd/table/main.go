// SPDX-License-Identifier: Apache-2.0

// Command table turns the stored results of the benchmark into the tables of
// README.md and of the documents in docs. Run it within the bench module.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nib-log/nib/bench/report"
)

func main() {
	if err := generate("results", ".."); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func generate(dir, root string) error {
	var errs []error
	for _, d := range report.Documents() {
		results, err := report.Load(dir, d.Set)
		if err == nil {
			err = update(&d, results[0], filepath.Join(root, filepath.FromSlash(d.Path)))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func update(d *report.Document, results *report.Results, path string) error {
	present, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	want, err := d.Render(results, string(present))
	if err != nil || want == string(present) {
		return err
	}
	fmt.Println("writes", d.Path)
	return os.WriteFile(path, []byte(want), 0o644)
}
