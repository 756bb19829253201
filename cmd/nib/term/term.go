// SPDX-License-Identifier: Apache-2.0

// Package term writes figures for people: with colours on a terminal, and
// without them elsewhere.
package term

import (
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// A Style writes colours if On is set.
type Style struct{ On bool }

// StyleFor returns the style for w, by the rules of sink/console: a terminal
// gets colours unless NO_COLOR is set or TERM is dumb. CLICOLOR_FORCE overrides
// all but NO_COLOR.
func StyleFor(w io.Writer) Style {
	if os.Getenv("NO_COLOR") != "" {
		return Style{}
	}
	if force := os.Getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return Style{On: true}
	}
	_, ok := Terminal(w)
	return Style{On: ok && os.Getenv("TERM") != "dumb"}
}

// Terminal returns the file descriptor of w if it is a terminal.
func Terminal(w io.Writer) (fd int, ok bool) {
	f, ok := w.(*os.File)
	if !ok {
		return 0, false
	}
	fd = int(f.Fd())
	return fd, term.IsTerminal(fd)
}

// Width returns the number of columns of a terminal, or 80 if it is unknown.
func Width(fd int) int {
	width, _, err := term.GetSize(fd)
	if err != nil {
		return 80
	}
	return width
}

func (s Style) paint(code, text string) string {
	if !s.On {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Dim styles explanations.
func (s Style) Dim(text string) string { return s.paint("2", text) }

// Bold styles figures.
func (s Style) Bold(text string) string { return s.paint("1", text) }

// Good styles good results.
func (s Style) Good(text string) string { return s.paint("32", text) }

// Bad styles bad results.
func (s Style) Bad(text string) string { return s.paint("1;31", text) }

// Warn styles expected results that look bad.
func (s Style) Warn(text string) string { return s.paint("33", text) }

// Count writes a number with commas.
func Count[T ~int | ~int64 | ~uint64](n T) string {
	digits := strconv.FormatInt(int64(n), 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
