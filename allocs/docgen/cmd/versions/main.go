// SPDX-License-Identifier: Apache-2.0

// Command versions runs the version experiment and writes its table into
// docs/zero-alloc.md and its picture into docs/zero-alloc-versions.svg:
//
//	cd allocs/docgen && go run ./cmd/versions
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nib-log/nib/allocs/docgen/internal/versions"
	"github.com/nib-log/nib/allocs/internal/progress"
)

func main() {
	dir := flag.String("module", "../testdata/versions", "the module with the hot paths")
	docs := flag.String("docs", "../../docs", "where zero-alloc.md is")
	releases := flag.String("go", strings.Join(versions.Releases, ","), "Go releases")
	flag.Parse()
	if err := write(*dir, *docs, strings.Split(*releases, ",")); err != nil {
		fmt.Fprintf(os.Stderr, "versions: %v\n", err)
		os.Exit(1)
	}
}

func write(dir, docs string, releases []string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	page := filepath.Join(docs, "zero-alloc.md")
	if _, err := os.Stat(page); err != nil {
		return err
	}
	m, err := versions.Run(context.Background(), dir, releases, "", func(e progress.Event) {
		fmt.Fprintf(os.Stderr, "%3.0f %% %s %s %s\n", 100*e.Done, e.Toolchain, e.Stage, e.Subject)
	})
	if err != nil {
		return err
	}
	// The page is read only now, because it may be edited during the run.
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	if text, err = m.Into(text); err != nil {
		return err
	}
	if err := os.WriteFile(page, text, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(docs, "zero-alloc-versions.svg"), []byte(m.SVG()), 0o644)
}
