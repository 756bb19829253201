// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/settings"
	"github.com/nib-log/nib/target"
)

// A Config sets where the lines of a process go, their format, and what happens
// at the end of the process. The zero Config is ready to use. In JSON it has
// the names of the tags; docs/setup.md has tables of all settings. A Config is
// a [ConfigSource], and may be a field of a larger struct that is read from
// JSON.
type Config struct {
	// Level is the lowest level that is written, optionally by the names of
	// loggers: "warn,db=debug,http.*=error"; see [nib.ParseRules]. Defaults to
	// "info".
	Level string `set:"level" is:"levels" default:"info" doc:"the lowest level that is written: trace, debug, info, warn, error, panic, fatal, info+2; by the names of loggers, too: warn,db=debug,http.*=error"`

	// Format is "json", the default, one of the layouts of package layout
	// ("ecs", "gcp", "datadog", "otel", "zap", "zerolog", "slog", "logrus"), or
	// a view for outputs without one: "console" or "logfmt".
	Format string `set:"format" is:"json|console|logfmt|ecs|gcp|datadog|otel|zap|zerolog|slog|logrus" default:"json" doc:"JSON, a view for people, or a layout"`

	// Output lists where lines go, each line to all of them: targets such as
	// "stdout", "file:/var/log/app.log?max_size=100MB" or
	// "kafka://broker:9092/logs?spool=/var/spool/app"; see package target.
	// Defaults to standard output, unless there are Sinks. Characters of a path
	// that have a special meaning are escaped by [net/url.PathEscape].
	Output []string `set:"output" default:"stdout" doc:"where lines go, see below; several, joined by commas, get all lines each"`

	// Fields are added to every line, in the order of their keys.
	Fields map[string]string `set:"fields" default:"none" doc:"fields of every line: service=shop,region=eu; in JSON an object"`

	// Caller adds the call site to every line. Defaults to Off.
	Caller Switch `set:"caller" default:"off" doc:"on, off: the call site in every line"`

	// Stack is the lowest level of lines with a stack. Defaults to none.
	Stack string `set:"stack" is:"level" default:"none" doc:"the level from which on lines have a stack"`

	// Timeout limits how long the end of the process waits for outputs. Defaults
	// to 5 s. Half of it is for the destinations of spools; lines that they have
	// not accepted by then stay in the directory of the spool.
	Timeout time.Duration `set:"timeout" default:"5s" doc:"how long the end of the process waits for outputs"`

	// Signals sets whether SIGTERM and SIGINT flush before they end the
	// process. Defaults to On if an output holds lines back (a buffer, a file
	// that is synced when flushed, a spool, a Sink with a Flush method),
	// otherwise to Off. Log.Context works with both defaults, but not if
	// Signals is set to Off. An ignored signal stays ignored.
	Signals Switch `set:"signals" default:"on if an output holds lines back, else off" doc:"on, off: SIGTERM and SIGINT flush before they end the process"`

	// Reopen sets whether SIGHUP reopens files. Defaults to On if there is one.
	Reopen Switch `set:"reopen" default:"on if there is a file" doc:"on, off: SIGHUP reopens files"`

	// Crash starts the monitor that logs a crash. Defaults to Off.
	Crash Switch `set:"crash" default:"off" doc:"on, off: a monitor process logs a crash"`

	// Default makes the package-level functions of nib, slog and log use the
	// logger, until Close. Defaults to Off.
	Default Switch `set:"default" default:"off" doc:"on, off: the package-level functions of nib, slog and log write here, too"`

	// Kinds are additional kinds of outputs; see [Kinds].
	Kinds []target.Spec

	// Rules, if not nil, are the level rules of the logger, so that the program
	// can change levels while it runs. If Level is set, Open sets them to it.
	Rules *nib.Rules

	// Sinks are further outputs that the program has opened itself: they are
	// flushed with the others, but not closed. The monitor cannot write to
	// them.
	Sinks []nib.Sink

	// Options are applied to the logger after all others.
	Options []nib.Option

	lambda bool // lines have the keys that AWS Lambda reads
	apart  bool // set for the monitor: begin a new line, as the runtime may be in the middle of one
}

// A Switch is On, Off, or not set, so that a later source can switch off a
// setting that an earlier one has switched on. It is "on" or "off" as text, and
// true or false in JSON.
type Switch int8

// The settings of a Switch. The zero Switch is not set.
const (
	SwitchOn  Switch = 1
	SwitchOff Switch = -1
)

// or returns s if it is set, and otherwise the default.
func (s Switch) or(byDefault bool) bool {
	if s == 0 {
		return byDefault
	}
	return s == SwitchOn
}

// Validate returns every mistake in c, joined, or nil. It opens only the files
// of certificates and passwords.
func (c Config) Validate() error {
	r := reading{kinds: c.Kinds}
	c.read(&r)
	return r.err()
}

// read makes a Config a [ConfigSource] that checks itself. It decodes the
// fields from their text, as for any other source, so that all agree.
func (c Config) read(r *reading) Config {
	list := settings.Of(&c)
	for i := range list {
		s := &list[i]
		where := "Config." + s.Field
		switch {
		case !s.IsSet():
		case s.IsList():
			r.checkOutputs(c.Output, func(i int) string { return place(where, i) })
		default:
			for _, err := range s.Check() {
				r.wrap(where, err)
			}
		}
	}
	for i, s := range c.Sinks {
		if s == nil {
			r.add(place("Config.Sinks", i), "nil is not a sink")
		}
	}
	return c
}

func (c Config) furtherKinds() []target.Spec { return c.Kinds }

// withDefaults sets the defaults, except for settings that an output leaves to
// its sink.
func (c Config) withDefaults() Config {
	if c.Level == "" && c.Rules == nil {
		c.Level = "info"
	}
	if c.Format == "" {
		c.Format = "json"
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if len(c.Output) == 0 && len(c.Sinks) == 0 {
		c.Output = []string{toStdout}
	}
	return c
}

const defaultTimeout = 5 * time.Second
