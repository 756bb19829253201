// SPDX-License-Identifier: Apache-2.0

package gorm

import (
	"log/slog"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibslog"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

func Open(dialect gorm.Dialector, log *nib.Logger) (*gorm.DB, error) {
	// NIB_LEVEL=info,gorm=warn: only slow statements and errors.
	own := slog.New(nibslog.NewHandler(log.Named("gorm")))
	return gorm.Open(dialect, &gorm.Config{Logger: logger.NewSlogLogger(own, logger.Config{
		LogLevel:                  logger.Info, // the level of log decides
		SlowThreshold:             200 * time.Millisecond,
		ParameterizedQueries:      true, // otherwise the values of all parameters are in the log
		IgnoreRecordNotFoundError: true,
	})})
}
