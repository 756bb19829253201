// SPDX-License-Identifier: Apache-2.0

package boxedlevel

import (
	"github.com/nib-log/nib"
	"go.uber.org/zap"
)

func order(log *nib.Logger, sugar *zap.SugaredLogger, n int) {
	log.Debug().Any("items", n).Send() // want `Any boxes n even when Debug is off; use Int`
	sugar.Debugw("order", "items", n)  // want `Debugw boxes n even when the level is off`
	if e := log.Debug(); e.Enabled() {
		e.Any("items", n).Send() // nothing is boxed needlessly
	}
}
