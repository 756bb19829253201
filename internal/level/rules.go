// SPDX-License-Identifier: Apache-2.0

package level

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A Rule sets the level of the loggers whose name it matches.
type Rule struct {
	Name  string // "" matches every name
	Below bool   // not Name itself, only the names below it: "http.*"
	Level int
}

// ParseRules reads rules separated by commas: a level alone is for all names,
// "db=debug" for db and all names below it (db.pool), "http.*=error" for those
// below http only, "*=warn" is a level alone. Space around names and levels is
// ignored, as are empty rules. A name with white space, a semicolon or an empty
// part is a mistake, as in "info;db=debug" or "db.=debug": it would change no
// level. The error joins one error per mistake.
func ParseRules(s string) ([]Rule, error) {
	var rules []Rule
	var faults []error
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		name, text, named := strings.Cut(part, "=")
		if !named {
			name, text = "*", part
		}
		r, err := newRule(strings.TrimSpace(name), strings.TrimSpace(text))
		if err != nil {
			faults = append(faults, fmt.Errorf("nib: rule %q: %w", part, err))
			continue
		}
		rules = append(rules, r)
	}
	return rules, errors.Join(faults...)
}

func newRule(name, text string) (r Rule, err error) {
	if r.Level, err = Parse(text); err != nil {
		return r, err
	}
	if name == "*" {
		return r, nil
	}
	r.Name, r.Below = strings.CutSuffix(name, ".*")
	switch {
	case r.Name == "":
		return r, errors.New("nib: a name is missing before the =")
	case strings.Contains(r.Name, "*"):
		return r, errors.New("nib: a * may only stand alone or at the end, after a dot")
	case strings.Contains(r.Name, ";") || strings.ContainsFunc(r.Name, unicode.IsSpace):
		return r, errors.New("nib: a name has no white space or semicolon: " +
			`write commas between rules, as in "info,db=debug"`)
	case slices.Contains(strings.Split(r.Name, "."), ""):
		return r, errors.New("nib: a part of the name is empty: " +
			`write "db" for db and the names below it, or "db.*" for those below it only`)
	}
	return r, nil
}

// fits reports whether r matches this name.
func (r *Rule) fits(name string) bool {
	if r.Name == "" {
		return true
	}
	rest, ok := strings.CutPrefix(name, r.Name)
	return ok && (rest == "" && !r.Below || strings.HasPrefix(rest, "."))
}

// Find returns the level of the rule with the longest name that matches, the
// last of several equal ones, or otherwise if none matches. The name "*", alone
// or below another, has the lowest level of any name.
func Find(rules []Rule, name string, otherwise int) int {
	if above, all := strings.CutSuffix(name, "*"); all {
		lowest := Find(rules, strings.TrimSuffix(above, "."), otherwise)
		for i := range rules {
			if rules[i].Name != "" {
				lowest = min(lowest, rules[i].Level)
			}
		}
		return lowest
	}
	best, level := -1, otherwise
	for i := range rules {
		r := &rules[i]
		n := len(r.Name)
		if r.Below {
			n++ // more specific than a rule without ".*"
		}
		if n >= best && r.fits(name) {
			best, level = n, r.Level
		}
	}
	return level
}

// Format returns the rules as ParseRules reads them.
func Format(rules []Rule) string {
	var b strings.Builder
	for i, r := range rules {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(r.Name)
		if r.Below {
			b.WriteString(".*")
		}
		if r.Name != "" {
			b.WriteByte('=')
		}
		b.WriteString(String(r.Level))
	}
	return b.String()
}
