// SPDX-License-Identifier: Apache-2.0

package eventsend

import (
	"github.com/nib-log/nib"
	"github.com/rs/zerolog"
)

func f(l *nib.Logger, n int) {
	l.Info().Int("n", n).Msg("sent")
	l.Info().Int("n", n)     // want `the event is never written`
	l.Info()                 // want `the event is never written`
	_ = l.Info().Int("n", n) // want `the event is never written`
	e := l.Info()
	e.Int("n", n) // adds to an event that is sent below
	e.Send()
}

func g(l *nib.Logger) *nib.Event { return l.Info() }

func add(e *nib.Event, n int) *nib.Event { return e.Int("n", n) }

func helper(l *nib.Logger, n int) {
	e := l.Info()
	add(e, n) // gives back the event that it was given
	_ = add(e, n).Int("n", n)
	e.Send()
}

func discarded(l *nib.Logger, z *zerolog.Logger) {
	l.Info().Discard() // want `the event is never written`
	z.Info().Discard()
}
