// SPDX-License-Identifier: Apache-2.0

package niblogrus

import (
	"github.com/nib-log/nib"
	"github.com/sirupsen/logrus"
)

// levels is indexed by logrus's levels.
var levels = [...]nib.Level{
	logrus.PanicLevel: nib.LevelPanic,
	logrus.FatalLevel: nib.LevelFatal,
	logrus.ErrorLevel: nib.LevelError,
	logrus.WarnLevel:  nib.LevelWarn,
	logrus.InfoLevel:  nib.LevelInfo,
	logrus.DebugLevel: nib.LevelDebug,
	logrus.TraceLevel: nib.LevelTrace,
}

// levelOf returns nib's level for one of logrus. Unknown levels of logrus are
// less severe than trace: nib's scale continues below it.
func levelOf(l logrus.Level) nib.Level {
	if l < logrus.Level(len(levels)) {
		return levels[l]
	}
	const lowest = 1 << 10
	return nib.LevelTrace - nib.Level(min(l-logrus.TraceLevel, lowest))
}
