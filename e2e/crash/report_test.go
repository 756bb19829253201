// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A row is a line of the table. Its description is written here, and its result
// by the test that begins it.
type row struct {
	id     string
	test   string // the action
	method string
	pass   string // the condition on the figure

	mu      sync.Mutex
	figure  string
	lacking bool   // parts of it could not be done here
	result  string // "": the test was not run
	seconds float64
}

const (
	passed  = "passed"
	partly  = "passed in part"
	failed  = "**failed**"
	skipped = "skipped"
)

// full reports whether all counts are asked for.
var full = os.Getenv("NIB_E2E") == "full"

// count returns how often something is done.
func count(short, all int) int {
	if full {
		return all
	}
	return short
}

// seed is the seed of everything random in this run.
var seed = func() uint64 {
	if text := os.Getenv("NIB_SEED"); text != "" && text != "random" {
		n, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			panic("NIB_SEED is not a number: " + text)
		}
		return n
	}
	return rand.Uint64()
}()

// A run is a row while its test runs.
type run struct {
	*testing.T
	row  *row
	rng  *rand.Rand
	seed uint64
}

// begin begins the row with an id, which is recorded when t ends. A test that
// has given no figure has failed.
func begin(t *testing.T, id string) *run {
	t.Helper()
	for i := range rows {
		if rows[i].id != id {
			continue
		}
		r := &run{T: t, row: &rows[i], rng: rand.New(rand.NewPCG(seed, uint64(crc32.ChecksumIEEE([]byte(id))))), seed: seed}
		from := time.Now()
		t.Cleanup(func() {
			r.row.mu.Lock()
			defer r.row.mu.Unlock()
			r.row.seconds = time.Since(from).Seconds()
			switch {
			case t.Skipped():
				r.row.result = skipped
			case t.Failed():
				r.row.result = failed
			case r.row.figure == "":
				r.row.result = failed
				t.Error("the row has no figure")
			case r.row.lacking:
				r.row.result = partly
			default:
				r.row.result = passed
			}
			t.Logf("row %s: %s; %s", id, r.row.result, r.row.figure)
		})
		return r
	}
	t.Fatalf("there is no row %s", id)
	return nil
}

// found adds to the figure.
func (r *run) found(format string, values ...any) {
	r.row.mu.Lock()
	defer r.row.mu.Unlock()
	if r.row.figure != "" {
		r.row.figure += "; "
	}
	r.row.figure += fmt.Sprintf(format, values...)
}

// skip ends the test and reports why it cannot run here.
func (r *run) skip(format string, values ...any) {
	r.Helper()
	reason := fmt.Sprintf(format, values...)
	r.found("%s", reason)
	r.Skip(reason)
}

// lacks records a part that cannot be done here.
func (r *run) lacks(part, why string) {
	r.found("skipped %s: %s", part, why)
	r.row.mu.Lock()
	defer r.row.mu.Unlock()
	r.row.lacking = true
}

// must ends the test if a preparation has failed.
func (r *run) must(errs ...error) {
	r.Helper()
	must(r.T, errs...)
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

const (
	tableBegin = "<!-- results: begin -->\n"
	tableEnd   = "<!-- results: end -->\n"
)

// table returns the rows of results.md between its marks. Rows that
// were not run stay as they were in the table before.
func table(before string) string {
	var b strings.Builder
	counts := "short"
	if full {
		counts = "full"
	}
	fmt.Fprintf(&b, "Counts: %s. Seed: %d. %s, %s/%s, %d CPUs.\n\n", counts, seed, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	b.WriteString("| Row | Test | Method | Must be | Found | Result | s |\n|---|---|---|---|---|---|---|\n")
	for i := range rows {
		r := &rows[i]
		if r.result == "" {
			b.WriteString(lineOf(before, r))
			continue
		}
		cell := func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "\n", " "), "|", "\\|") }
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %.1f |\n", r.id, cell(r.test), cell(r.method), cell(r.pass), cell(r.figure), r.result, r.seconds)
	}
	return b.String()
}

// lineOf returns the line of a row in a table.
func lineOf(table string, r *row) string {
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "| "+r.id+" |") {
			return line
		}
	}
	return fmt.Sprintf("| %s | %s | | | | not run | |\n", r.id, r.test)
}

// writeTable puts the table into the file that NIB_E2E_TABLE names.
func writeTable() error {
	name := os.Getenv("NIB_E2E_TABLE")
	if name == "" {
		return nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join("..", "..", name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	head, rest, ok := bytes.Cut(text, []byte(tableBegin))
	before, tail, ok2 := bytes.Cut(rest, []byte(tableEnd))
	if !ok || !ok2 {
		return errors.New(name + ": has no marks for the table")
	}
	return os.WriteFile(name, []byte(string(head)+tableBegin+"\n"+table(string(before))+"\n"+tableEnd+string(tail)), 0o644)
}
