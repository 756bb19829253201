// SPDX-License-Identifier: Apache-2.0

// Package compiler collects the decisions of the Go compiler and their reasons:
// which values escape, along which assignments, after inlining into which
// calls.
//
// The compiler writes this with -json=0,DIR. The go command does not replay
// those files from its cache: when a package is not compiled, nothing is
// written. So each package is compiled with a new DIR, and it is an error if it
// then has no result.
package compiler

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Position is a place in a source file, counted from 1.
type Position struct {
	File string `json:"f"`
	Line int    `json:"l"`
	Col  int    `json:"c,omitempty"`
}

// Step is one assignment on the way of a value to the heap.
type Step struct {
	Text string   `json:"t"` // "from x (assign)" or "flow: {heap} ← x:"
	At   Position `json:"p"`
}

// Escape is one decision: a value that goes to the heap.
type Escape struct {
	// Stack is the place in the code that the decision was made for: the
	// innermost inlined position first, the position in the function that
	// was compiled last.
	Stack []Position `json:"s"`
	// Source text of the value; "" when the compiler gives none.
	What    string `json:"w"`
	Moved   bool   `json:"m,omitempty"` // a variable that is moved to the heap
	Reasons []Step `json:"r,omitempty"`
}

// The compiler's records, in the form of the language server protocol but with
// positions from 1.
type lspRecord struct {
	Version *int     `json:"version"`
	File    string   `json:"file"`
	Range   lspRange `json:"range"`
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Related []struct {
		Location struct {
			URI   string   `json:"uri"`
			Range lspRange `json:"range"`
		} `json:"location"`
		Message string `json:"message"`
	} `json:"relatedInformation"`
}

type lspRange struct {
	Start struct {
		Line      int `json:"line"`
		Character int `json:"character"`
	} `json:"start"`
}

// formatVersion is the only version of the format.
const formatVersion = 0

// parse reads one file of records: the header, then one record a line.
func parse(text []byte) ([]Escape, error) {
	sc := bufio.NewScanner(bytes.NewReader(text))
	sc.Buffer(nil, 64<<20)
	var out []Escape
	file := ""
	for n := 0; sc.Scan(); n++ {
		var r lspRecord
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("compiler diagnostics, line %d: %w", n+1, err)
		}
		if n == 0 {
			if r.Version == nil || *r.Version != formatVersion {
				return nil, fmt.Errorf("compiler diagnostics: not version %d of the format",
					formatVersion)
			}
			file = r.File
			continue
		}
		// "escape" and "escapes" differ in whether a reason is given; the
		// empty twins of records with a text add nothing but the position.
		if r.Code != "escape" && r.Code != "escapes" {
			continue
		}
		out = append(out, r.escape(file))
	}
	return out, sc.Err()
}

func (r *lspRecord) escape(file string) Escape {
	e := Escape{}
	what, moved := strings.CutPrefix(r.Message, "moved to heap: ")
	e.Moved = moved
	if i := strings.Index(what, " escapes to heap"); i >= 0 {
		what = what[:i]
	}
	e.What = what
	outer := []Position{position(file, r.Range)}
	related := r.Related
	for len(related) > 0 && related[0].Message == "inlineLoc" {
		outer = append(outer, position(related[0].Location.URI, related[0].Location.Range))
		related = related[1:]
	}
	for i := len(outer) - 1; i >= 0; i-- {
		e.Stack = append(e.Stack, outer[i])
	}
	for i := 0; i < len(related); i++ {
		text, ok := strings.CutPrefix(related[i].Message, "escflow:")
		if !ok {
			continue
		}
		at := position(related[i].Location.URI, related[i].Location.Range)
		e.Reasons = append(e.Reasons, Step{strings.TrimSpace(text), at})
	}
	e.Moved = e.Moved || movedVariable(e)
	return e
}

// movedVariable reports whether the value is a variable that is declared at the
// position and not only used there. The flow shows it: the address of the
// variable itself reaches the heap; for other values it is the address of
// temporary storage.
func movedVariable(e Escape) bool {
	for _, r := range e.Reasons {
		if !strings.HasPrefix(r.Text, "flow: ") {
			continue
		}
		_, from, ok := strings.Cut(r.Text, " ← &")
		if !ok {
			_, from, ok = strings.Cut(r.Text, " = &")
		}
		return ok && strings.TrimSuffix(from, ":") == e.What
	}
	return false
}

func position(uri string, r lspRange) Position {
	return Position{strings.TrimPrefix(uri, "file://"), r.Start.Line, r.Start.Character}
}
