// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"io"
	"os"

	"golang.org/x/term"
)

// A style writes colours, or does not.
type style struct{ on bool }

// styleFor decides as sink/console does: colours go to a terminal, unless
// NO_COLOR is set or TERM is dumb; CLICOLOR_FORCE makes up for all but NO_COLOR.
func styleFor(w io.Writer) style {
	if os.Getenv("NO_COLOR") != "" {
		return style{}
	}
	if force := os.Getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return style{on: true}
	}
	_, ok := terminal(w)
	return style{on: ok && os.Getenv("TERM") != "dumb"}
}

// terminal gives the file descriptor of w if it is a terminal.
func terminal(w io.Writer) (fd int, ok bool) {
	f, ok := w.(*os.File)
	if !ok {
		return 0, false
	}
	fd = int(f.Fd())
	return fd, term.IsTerminal(fd)
}

func (s style) paint(code, text string) string {
	if !s.on {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) dim(text string) string  { return s.paint("2", text) }
func (s style) bold(text string) string { return s.paint("1", text) }
func (s style) good(text string) string { return s.paint("32", text) }
func (s style) bad(text string) string  { return s.paint("1;31", text) }
