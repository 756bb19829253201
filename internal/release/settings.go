// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A setting is an environment variable with its value in a document.
type setting struct{ at, name, value string }

// isSetting finds settings in text, in code and in files of systemd and Docker.
// A value without quotes ends at a space, a backquote or a quote.
var isSetting = regexp.MustCompile("\\b(NIB_[A-Z]+)=(?:'([^']+)'|\"([^\"]+)\"|([^\\s`'\"]+))")

// ours are variables of the tests, which package setup does not have.
var ours = []string{"NIB_SEED"}

// settingsOf returns the settings in a document. It skips those with an
// ellipsis.
func settingsOf(name, text string) (list []setting) {
	line := 0
	for raw := range strings.Lines(text) {
		line++
		for _, m := range isSetting.FindAllStringSubmatch(raw, -1) {
			value := m[2] + m[3] + strings.TrimRight(m[4], ".,;:)*")
			if value != "" && !strings.Contains(value, "…") && !slices.Contains(ours, m[1]) {
				list = append(list, setting{fmt.Sprintf("%s:%d", name, line), m[1], value})
			}
		}
	}
	return list
}

// settings passes package setup each setting of the documents.
func (u *user) settings() error {
	const name = "settings"
	if err := u.module(name); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(u.home, name, "main.go"), []byte(settingsText), 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{{"mod", "tidy"}, {"build", "-o", "program", "."}} {
		if _, err := u.run(name, "go", args...); err != nil {
			return err
		}
	}
	var faults []error
	count := 0
	for _, document := range u.documents() {
		text, err := os.ReadFile(filepath.Join(u.dir, document))
		if err != nil {
			return err
		}
		for _, s := range settingsOf(document, string(text)) {
			count++
			env := append(slices.Clone(u.env), s.name+"="+s.value)
			if _, err := u.runWith(env, name, filepath.Join(u.home, name, "program")); err != nil && !lacksFilesOnly(err) {
				faults = append(faults, fmt.Errorf("%s: %s: %w", s.at, s.name, err))
			}
		}
	}
	if count == 0 {
		faults = append(faults, errors.New("no setting was found in the documents"))
	}
	return errors.Join(faults...)
}

// lacksFilesOnly reports whether only files of the user, such as certificates,
// are missing.
func lacksFilesOnly(err error) bool {
	_, text, _ := strings.Cut(err.Error(), "\n")
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(strings.TrimSpace(line), ": no such file or directory") {
			return false
		}
	}
	return text != ""
}

const settingsText = `package main

import (
	"fmt"
	"os"

	"github.com/nib-log/nib/dest/elastic"
	"github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/dest/otlp"
	"github.com/nib-log/nib/setup"
)

func main() {
	if _, err := setup.Read(setup.FromEnv("NIB"), setup.Kinds(elastic.Kind, kafka.Kind, otlp.Kind)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
`
