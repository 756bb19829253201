// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"github.com/phuslu/log"

	"github.com/nib-log/nib"
)

// NibFields returns a Run of nib with the ten fields, into a sink. Package
// files calls it: a file with rotation is not an io.Writer to nib, nor to
// phuslu.
func NibFields(s nib.Sink) Run { return nibTen(nib.NewSink(s)) }

// PhusluFields returns a Run of phuslu with the ten fields, into the writer
// that l has when Do is called.
func PhusluFields(l *log.Logger) Run { return phusluTen(l) }
