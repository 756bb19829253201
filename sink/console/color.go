// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/level"
)

// The colours are among the basic sixteen, which every terminal theme makes
// readable on its background, but never white, black or grey, which either
// light or dark themes hide. Less important text is dim.
const (
	sgrReset  = "\x1b[0m"
	sgrDim    = "\x1b[2m"
	sgrBold   = "\x1b[1m"
	sgrKey    = "\x1b[36m"
	sgrLogger = "\x1b[35m"
	sgrError  = "\x1b[31m"
	sgrTrace  = "\x1b[2m"
	sgrDebug  = "\x1b[36m"
	sgrInfo   = "\x1b[32m"
	// Not bold: some terminals show bold as bright yellow, which is invisible
	// on white.
	sgrWarn     = "\x1b[33m"
	sgrErrorTag = "\x1b[1;31m"
	sgrFatal    = "\x1b[1;7;31m" // reversed: text in the background colour on the theme's red
)

// levelColors are the colours of the tags of the named levels.
var levelColors = [level.Count]string{sgrTrace, sgrDebug, sgrInfo, sgrWarn, sgrErrorTag, sgrFatal,
	sgrFatal}

// levelColor returns the colour of the tag of a level.
func levelColor(l nib.Level) string { return levelColors[level.Row(int(l))] }

// wantColor decides whether lines for w are coloured.
func wantColor(c Color, w io.Writer, getenv func(string) string) bool {
	if c != ColorAuto {
		return c == ColorAlways
	}
	if getenv("NO_COLOR") != "" {
		return false
	}
	if force := getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return getenv("TERM") != "dumb" && terminalOf(w) != nil
}
