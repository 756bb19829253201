// SPDX-License-Identifier: Apache-2.0

package a

import "github.com/nib-log/nib"

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
