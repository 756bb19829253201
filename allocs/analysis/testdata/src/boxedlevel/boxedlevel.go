// SPDX-License-Identifier: Apache-2.0

package boxedlevel

import (
	"github.com/go-logr/logr"
	"github.com/nib-log/nib"
	"github.com/rs/zerolog"
	"go.uber.org/zap"
)

type point struct{ x, y int }

type named int

func nibs(l *nib.Logger, p point, q *point, any any, ok bool, b byte, s string) {
	l.Debug().Int("n", 1).Any("p", p).Send() // want `Any boxes p even when Debug is off; use nib.Val`
	l.Debug().Any("s", s).Send()             // want `Any boxes s even when Debug is off; use nib.Val`
	l.Debug().Any("q", q).Send()
	l.Debug().Any("any", any).Send()
	l.Debug().Any("ok", ok).Send() // every bool is there already
	l.Debug().Any("b", b).Send()
	l.Debug().Any("c", 7).Send()
	l.Info().Any("p", p).Send()
	e := l.Debug()
	e.Any("p", p).Send() // where e comes from is not followed
}

func zerologs(l *zerolog.Logger, n int, u uint16, x named, f float64) {
	l.Debug().Interface("n", n).Msg("") // want `Interface boxes n even when Debug is off; use Int`
	l.Trace().Interface("u", u).Msg("") // want `Interface boxes u even when Trace is off; use Uint16`
	l.Trace().Interface("x", x).Msg("") // want `ask for the level first`
	l.Trace().Interface("f", f).Msg("") // want `ask for the level first`
	if e := l.Debug(); e.Enabled() {
		l.Debug().Interface("n", n).Msg("")
	}
}

func zaps(l *zap.Logger, s *zap.SugaredLogger, n int, p point, verbose bool) {
	l.Debug("m", zap.Int("n", n), zap.Any("n", n)) // want `Any boxes n even when the level is off; use zap.Int`
	l.Debug("m", zap.Any("p", p))                  // want `Any boxes p even when the level is off; ask for the level first`
	s.Debugf("%d", n)                              // want `Debugf boxes n even when the level is off`
	s.Debugf("%d", 7)
	s.Infow("m", "n", n)
	if verbose {
		s.Debugf("%d", n)
	}
	if ce := l.Check(-1, "m"); ce != nil {
		l.Debug("m", zap.Any("p", p))
	}
	if s.Level() > 0 {
		return
	}
	s.Debugf("%d", n)
}

func logrs(l logr.Logger, n int, err error) {
	l.V(1).Info("m", "n", n) // want `Info boxes n even when the level is off`
	l.V(1).Info("m", "err", err)
	l.V(0).Info("m", "n", n)
	l.Info("m", "n", n)
	if d := l.V(4); d.Enabled() {
		d.Info("m", "n", n)
	}
}
