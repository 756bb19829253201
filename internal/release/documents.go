// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// A block is a fenced block of a document.
type block struct {
	at       string // file and line
	language string // the language after the fence
	text     string
}

// documents returns the documents that users read: README.md, SKILL.md, docs,
// and the README of each published module.
func (r *repository) documents() (list []string) {
	for name := range strings.FieldsSeq(r.git("ls-files", "README.md", "SKILL.md", "docs/*.md", "*/README.md")) {
		if r.isForUsers(name) {
			list = append(list, name)
		}
	}
	return list
}

// blocks returns the blocks of the documents.
func (r *repository) blocks() (list []block, err error) {
	for _, name := range r.documents() {
		text, err := os.ReadFile(filepath.Join(r.dir, name))
		if err != nil {
			return nil, err
		}
		list = append(list, blocksOf(name, string(text))...)
	}
	return list, nil
}

func (r *repository) isForUsers(name string) bool {
	if strings.HasPrefix(name, "docs/decisions/") {
		return false
	}
	for _, folder := range published[1:] {
		if path.Dir(name) == folder {
			return true
		}
	}
	return name == "README.md" || name == "SKILL.md" || strings.HasPrefix(name, "docs/")
}

// blocksOf returns the fenced blocks of a text in Markdown, and the indented
// lines that look like commands.
func blocksOf(name, text string) (list []block) {
	var open *block
	line := 0
	for raw := range strings.Lines(text) {
		line++
		trimmed := strings.TrimSpace(raw)
		switch {
		case open == nil && strings.HasPrefix(trimmed, "```"):
			open = &block{at: fmt.Sprintf("%s:%d", name, line), language: strings.TrimPrefix(trimmed, "```")}
		case open != nil && trimmed == "```":
			list = append(list, *open)
			open = nil
		case open != nil:
			open.text += raw
		case strings.HasPrefix(raw, "    ") && isCommand.MatchString(trimmed):
			list = append(list, block{at: fmt.Sprintf("%s:%d", name, line), text: trimmed + "\n"})
		}
	}
	return list
}

var (
	isProgram = regexp.MustCompile(`(?m)^package main$`)
	// isDriven finds programs that serve or take arguments: the commands behind
	// them in the document run them.
	isDriven = regexp.MustCompile(`ListenAndServe|\.Serve\(|os\.Args`)
	// isCommand finds blocks of commands that are not marked as such, and would
	// not be run.
	isCommand = regexp.MustCompile(`^(\$ |go (get|install|run|mod|vet|test|tool) |make |nib |allocs |cd |benchstat |curl |docker |kubectl |apt-get |export )`)
)

// examples builds the whole programs of the documents, and runs them unless
// commands do.
func (u *user) examples() error {
	blocks, err := u.blocks()
	if err != nil {
		return err
	}
	const name = "programs"
	if err := u.module(name); err != nil {
		return err
	}
	for _, folder := range u.order() {
		if folder == "cmd/nib" {
			continue
		}
		if _, err := u.run(name, "go", "get", pathOf(folder)+"@latest"); err != nil {
			return err
		}
	}
	var faults []error
	count := 0
	for _, b := range blocks {
		if b.language != "go" || !isProgram.MatchString(b.text) {
			continue
		}
		count++
		if err := u.example(name, b); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", b.at, err))
		}
	}
	if count == 0 {
		faults = append(faults, errors.New("no program was found in the documents"))
	}
	return errors.Join(faults...)
}

func (u *user) example(name string, b block) error {
	main := filepath.Join(u.home, name, "main.go")
	if err := os.WriteFile(main, []byte(b.text), 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{{"mod", "tidy"}, {"vet", "."}, {"build", "-o", "program", "."}} {
		if _, err := u.run(name, "go", args...); err != nil {
			return err
		}
	}
	if isDriven.MatchString(b.text) {
		return nil
	}
	_, err := u.run(name, filepath.Join(u.home, name, "program"))
	return err
}
