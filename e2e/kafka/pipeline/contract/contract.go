// SPDX-License-Identifier: Apache-2.0

// Package contract defines the contract between services and consumers: the
// format of a line, and its path.
package contract

import (
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/dest/syslog"
	"github.com/nib-log/nib/schema"
	"github.com/nib-log/nib/sink/spool"
)

// A Line is one line. Consumers validate against its JSON Schema.
type Line struct {
	Service string `json:"service"`
	Msg     string `json:"msg"`
	TaskID  string `json:"task_id"` // "" when a line belongs to no task
	LogDate string `json:"log_date"`
	Level   string `json:"level"`
	Rows    int    `json:"rows,omitempty"`
}

// Schema returns the JSON Schema of a Line.
func Schema() []byte { return schema.MustFor[Line]().JSONSchema() }

// Zone is the time zone of log_date, wherever a service runs.
var Zone = time.FixedZone("CST", 8*60*60)

// Logger makes the logger of a service: lines in the agreed format go through a
// spool in dir to the rsyslog at relp, which acknowledges them. stop delivers
// the remaining lines.
func Logger(service, dir, relp string) (log *nib.Logger, stop func() error, err error) {
	to, err := syslog.New("relp", relp, syslog.Config{AppName: service})
	if err != nil {
		return nil, nil, err
	}
	s, err := spool.Open(dir, to, spool.Config{Name: "rsyslog"})
	if err != nil {
		return nil, nil, err
	}
	layout := nib.Layout{
		TimeKey: "log_date", TimeFormat: "2006-01-02 15:04:05", TimeZone: Zone, MessageKey: "msg",
		Static: func(e *nib.Event) { e.Str("service", service) },
	}
	return nib.NewSink(s, nib.WithLayout(layout), nib.WithHook(always{})), s.Close, nil
}

// always gives each line a task_id.
type always struct{}

func (always) Run(e *nib.Event, _ nib.Level, _ string) {
	if _, ok := e.Lookup("task_id"); !ok {
		e.Str("task_id", "")
	}
}
