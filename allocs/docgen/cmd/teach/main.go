// SPDX-License-Identifier: Apache-2.0

// Command teach writes the parts of docs/zero-alloc.md that come from the
// test data of the checks, from the catalogue, and from a result of the gate.
// Run it in allocs/docgen:
//
//	go run ./cmd/teach                    # examples and catalogue
//	go run ./cmd/teach -check             # only report whether they are up to date
//	go run ./cmd/teach -gate gate.json    # also the matrix, from the output of allocs --json
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/nib-log/nib/allocs/docgen/internal/teach"
	"github.com/nib-log/nib/allocs/internal/findings"
)

func main() {
	check := flag.Bool("check", false, "write nothing, fail if the document is out of date")
	gate := flag.String("gate", "", "`file` with the JSON of the gate, for the matrix")
	document := flag.String("document", "../../docs/zero-alloc.md", "`file` to write")
	flag.Parse()
	if err := update(*document, *gate, *check); err != nil {
		fmt.Fprintln(os.Stderr, "teach:", err)
		os.Exit(1)
	}
}

func update(document, gate string, check bool) error {
	present, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	sections, err := teach.Sections("..")
	if err != nil {
		return err
	}
	if gate != "" {
		text, err := os.ReadFile(gate)
		if err != nil {
			return err
		}
		var d findings.Document
		if err := json.Unmarshal(text, &d); err != nil {
			return fmt.Errorf("%s: %w", gate, err)
		}
		sections = append(sections, teach.Matrix(&d))
	}
	text := string(present)
	for _, s := range sections {
		if text, err = teach.Replace(text, s); err != nil {
			return fmt.Errorf("%s: %w", document, err)
		}
	}
	if text == string(present) {
		return nil
	}
	if check {
		return fmt.Errorf("%s is out of date; run go run ./cmd/teach in allocs/docgen", document)
	}
	return os.WriteFile(document, []byte(text), 0o644)
}
