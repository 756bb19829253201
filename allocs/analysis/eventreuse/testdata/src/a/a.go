// SPDX-License-Identifier: Apache-2.0

package a

import "github.com/nib-log/nib"

func f(l *nib.Logger, again bool) {
	e := l.Info()
	e.Int("n", 1).Msg("written")
	e.Int("n", 2).Send() // want `e is used after it was written`
}

func g(l *nib.Logger, again bool) {
	e := l.Info()
	e.Send()
	if again {
		e.Send() // want `e is used after it was written`
	}
}

func h(l *nib.Logger) {
	e := l.Info()
	e.Send()
	e = l.Info()
	e.Send()
}

func branches(l *nib.Logger, a bool) {
	e := l.Info()
	if a {
		e.Msg("a")
	} else {
		e.Msg("b")
	}
}
