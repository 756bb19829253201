// SPDX-License-Identifier: Apache-2.0

package contract

// Package nib sets these functions. A logger is a *nib.Logger, an event a
// *nib.Event.
var (
	// LayoutOf returns a *nib.Layout of a logger, with its defaults filled in. It
	// must not be changed.
	LayoutOf func(logger any) (layout any)

	// HasErrorKeys reports, within AppendFields of a logger, whether some of the
	// fields may need another key in a line with an error.
	HasErrorKeys func(event any) bool

	// AddFields adds fields that AppendFields of the logger has encoded to an
	// event; errorKeys is the result of HasErrorKeys. It reports false, and adds
	// nothing, if they may need other keys there.
	AddFields func(event, logger any, fields []byte, errorKeys bool) bool
)
