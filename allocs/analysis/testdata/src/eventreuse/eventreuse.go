// SPDX-License-Identifier: Apache-2.0

package eventreuse

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

func discarded(l *nib.Logger) {
	e := l.Info()
	e.Discard() // it still has to be sent
	e.Send()
}

func renewed(l *nib.Logger, again bool) {
	e := l.Info()
	e.Send()
	if again {
		e = l.Info()
		e.Send()
	}
	e = e.Int("n", 1) // a branch above may have a new one in it
	e.Send()
}

func compared(l *nib.Logger, c chan int) {
	select {
	case <-c:
		e := l.Info()
		e.Send()
		if e != nil {
			println("written")
		}
		e.Send() // want `e is used after it was written`
	}
}

func onItself(l *nib.Logger) {
	e := l.Info()
	e.Send()
	e = e.Int("n", 1) // want `e is used after it was written`
}
