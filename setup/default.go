// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"log"
	"log/slog"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibslog"
)

// setDefaults makes l the logger of the package-level functions of nib, slog
// and log, and returns a function that undoes it.
func setDefaults(l *nib.Logger) (restore func()) {
	oldNib, oldSlog := nib.Default(), slog.Default()
	writer, flags := log.Writer(), log.Flags()
	nib.SetDefault(l)
	nibslog.SetDefault(l)
	return func() {
		nib.SetDefault(oldNib)
		slog.SetDefault(oldSlog) // changes package log as well, so that comes last
		log.SetOutput(writer)
		log.SetFlags(flags)
	}
}
