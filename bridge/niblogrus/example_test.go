// SPDX-License-Identifier: Apache-2.0

package niblogrus_test

import (
	"errors"
	"os"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/niblogrus"
	"github.com/sirupsen/logrus"
)

// One line is different: &logrus.JSONFormatter{} has become
// &niblogrus.Formatter{}.
func ExampleFormatter() {
	log := logrus.New()
	log.SetOutput(os.Stdout)
	log.SetFormatter(&niblogrus.Formatter{})

	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	log.WithTime(at).WithFields(logrus.Fields{"user": "ann", "total": 12.5}).Info("order placed")
	log.WithTime(at).WithError(errors.New("connection refused")).WithField("level", 9).Warn("retrying")
	// Output:
	// {"level":"info","msg":"order placed","time":"2026-01-02T15:04:05Z","total":12.5,"user":"ann"}
	// {"error":"connection refused","fields.level":9,"level":"warning","msg":"retrying","time":"2026-01-02T15:04:05Z"}
}

// A fixed format: service, msg, task_id and log_date come first in every line,
// the date in the zone of the readers; all other fields follow.
func ExampleFormatter_fixedFormat() {
	log := logrus.New()
	log.SetOutput(os.Stdout)
	log.SetFormatter(&niblogrus.Formatter{
		Service: "billing",
		Layout: nib.Layout{
			TimeKey:    "log_date",
			TimeFormat: "2006-01-02 15:04:05",
			TimeZone:   time.FixedZone("CST", 8*60*60),
			LevelKey:   nib.OmitKey,
		},
		First:  []string{"service", "msg", "task_id", "log_date"},
		Always: []string{"task_id"},
	})

	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	log.WithTime(at).Info("started")
	log.WithTime(at).WithField("task_id", "7f3a").Info("task done")
	log.WithTime(at).WithFields(logrus.Fields{"task_id": 42, "rows": 3}).Info("task done")
	// Output:
	// {"service":"billing","msg":"started","task_id":"","log_date":"2026-01-02 23:04:05"}
	// {"service":"billing","msg":"task done","task_id":"7f3a","log_date":"2026-01-02 23:04:05"}
	// {"service":"billing","msg":"task done","task_id":42,"log_date":"2026-01-02 23:04:05","rows":3}
}

// Calls of logrus stay unchanged, and nib writes the lines.
func ExampleInstall() {
	log := logrus.New()
	niblogrus.Install(log, nib.New(os.Stdout, nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey})))

	log.WithField("user", "ann").Info("order placed")
	log.WithError(errors.New("connection refused")).Error("order lost")
	// Output:
	// {"level":"info","user":"ann","message":"order placed"}
	// {"level":"error","error":"connection refused","message":"order lost"}
}

// A Hook for some levels sends them to a second place.
func ExampleHook() {
	log := logrus.New()
	log.SetOutput(os.Stdout)
	log.SetFormatter(&niblogrus.Formatter{Layout: nib.Layout{TimeKey: nib.OmitKey}})
	alerts := nib.New(os.Stdout, nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey, Static: func(e *nib.Event) { e.Str("to", "alerts") }}))
	log.AddHook(&niblogrus.Hook{Logger: alerts, LogLevels: []logrus.Level{logrus.ErrorLevel}})

	log.Info("order placed")
	log.Error("order lost")
	// Output:
	// {"level":"info","msg":"order placed"}
	// {"level":"error","to":"alerts","message":"order lost"}
	// {"level":"error","msg":"order lost"}
}
