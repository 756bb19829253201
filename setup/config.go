// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"io/fs"
	"slices"
	"time"

	"github.com/nib-log/nib"
)

// A Config says where the lines of a process go, how they look, and what
// becomes of them at its end. The zero Config is ready to use. As JSON it has
// the names of the tags; docs/setup.md has tables of all settings. A Config is
// a [ConfigSource], and may be a field of a larger struct that is read from JSON.
type Config struct {
	// Level is the lowest level that is written, by the names of loggers if need
	// be: "warn,db=debug,http.*=error", see [nib.ParseRules]. Defaults to "info".
	Level string `json:"level" kind:"levels"`

	// Format is "json", the default, one of the layouts of package layout ("ecs",
	// "gcp", "datadog", "otel", "zap", "zerolog", "slog", "logrus"), or a view for
	// outputs that have none of their own: "console" or "logfmt".
	Format string `json:"format" kind:"format"`

	// Output is where lines go, all of them to each. Defaults to standard output,
	// unless there are Sinks.
	Output []Output `json:"output" kind:"outputs"`

	// Fields stand in every line, in the order of their keys.
	Fields map[string]string `json:"fields" kind:"fields"`

	// Caller adds the call site to every line. Defaults to Off.
	Caller Switch `json:"caller" kind:"switch"`

	// Stack is the level from which on lines have a stack. Defaults to none.
	Stack string `json:"stack" kind:"level"`

	// Timeout is how long the end of the process may wait for outputs. Defaults
	// to 5 s.
	Timeout time.Duration `json:"timeout" kind:"duration"`

	// Signals says whether SIGTERM and SIGINT flush before they end the process.
	// Defaults to On if an output holds lines back (a buffer, a file that is synced
	// when flushed, a Sink with a Flush method), else to Off. Either way Log.Context
	// works unless it is Off here. A signal that is ignored stays so.
	Signals Switch `json:"signals" kind:"switch"`

	// Reopen says whether SIGHUP reopens files. Defaults to On if there is one.
	Reopen Switch `json:"reopen" kind:"switch"`

	// Crash starts the monitor that makes a line of a crash. Defaults to Off.
	Crash Switch `json:"crash" kind:"switch"`

	// Default makes the logger that of the package-level functions of nib, slog
	// and log, until Close. Defaults to Off.
	Default Switch `json:"default" kind:"switch"`

	// Rules, if not nil, decide for the logger, so that the program can change
	// levels while it runs. Level is put into them if it is set.
	Rules *nib.Rules `json:"-"`

	// Sinks are further outputs that the program has opened itself: they are
	// flushed with the others, and their owner closes them. The monitor cannot
	// write to them.
	Sinks []nib.Sink `json:"-"`

	// Options are applied to the logger after all others.
	Options []nib.Option `json:"-"`

	apart bool // of the monitor: begin a line where the runtime may be in the middle of one
}

// An Output is one place that lines go to. Only To is always needed; the settings
// of other kinds of output are to be left out. What is left out has the default
// of the sink's package.
type Output struct {
	To   string `json:"to" kind:"to"`                 // stdout, stderr, file, journald or discard
	Path string `json:"path" kind:"text" only:"file"` // of the file; its directory is made, if that in which it lies exists

	Level  string `json:"level" kind:"level"`                           // the lowest that this output gets, of those that are written at all
	Format string `json:"format" kind:"view" only:"stdout stderr file"` // json, console or logfmt

	Buffer Bytes         `json:"buffer" kind:"size" only:"stdout stderr file"` // lines are collected and written together
	Delay  time.Duration `json:"delay" kind:"duration" only:"stdout stderr file"`
	Stall  time.Duration `json:"stall" kind:"duration" only:"stdout stderr journald"`

	MaxSize  Bytes         `json:"max_size" kind:"size" only:"file"`
	Every    time.Duration `json:"every" kind:"duration" only:"file"`
	At       []string      `json:"at" kind:"times" only:"file"`
	Zone     string        `json:"zone" kind:"zone" only:"file"` // of At
	Backups  int           `json:"backups" kind:"count" only:"file"`
	MaxAge   time.Duration `json:"max_age" kind:"duration" only:"file"`
	MaxTotal Bytes         `json:"max_total" kind:"size" only:"file"`
	Compress string        `json:"compress" kind:"compress" only:"file"` // gzip
	Mode     fs.FileMode   `json:"mode" kind:"mode" only:"file"`
	MinFree  Bytes         `json:"min_free" kind:"size" only:"file"`
	Sync     string        `json:"sync" kind:"sync" only:"file"` // never, flush or always

	Spool     string `json:"spool" kind:"text" only:"file"`      // directory that lines are kept in until they are in the file
	SpoolSize Bytes  `json:"spool_size" kind:"size" only:"file"` // of all lines in it

	Identifier string `json:"identifier" kind:"text" only:"journald"`
	Prefix     string `json:"prefix" kind:"text" only:"journald"`
	Line       string `json:"line" kind:"text" only:"journald"`
	Socket     string `json:"socket" kind:"text" only:"journald"`
}

// Bytes is a size. As text it has a unit: of powers of 1000 (100MB) or 1024 (64KiB),
// or B.
type Bytes int64

// A Switch is On, Off, or not set, so that a later source can switch off what an
// earlier one has switched on. As text it is "on" or "off", in JSON true or
// false.
type Switch int8

// The settings of a Switch. The zero Switch is not set.
const (
	SwitchOn  Switch = 1
	SwitchOff Switch = -1
)

// or is s if it is set, and else what holds by default.
func (s Switch) or(byDefault bool) bool {
	if s == 0 {
		return byDefault
	}
	return s == SwitchOn
}

// Validate returns all that is wrong with c, joined, or nil. It opens nothing.
func (c Config) Validate() error {
	var found faults
	c.read(&found)
	return found.err()
}

// read makes a Config a [ConfigSource] that checks itself. What the fields mean is
// decided on their text, as for any other source, so that all agree.
func (c Config) read(found *faults) Config {
	checkFields(&c, configSettings(), found, func(s *setting) string { return "Config." + s.field })
	c.Output = slices.Clone(c.Output) // the program's own stays as it is
	for i := range c.Output {
		o := &c.Output[i]
		at := func(s *setting) string { return place("Config.Output", i) + "." + s.field }
		before := len(found.list)
		checkFields(o, outputSettings(), found, at)
		checkOutput(o, found, before, place("Config.Output", i), at)
	}
	for i, s := range c.Sinks {
		if s == nil {
			found.add(place("Config.Sinks", i), "nil is not a sink")
		}
	}
	return c
}

// withDefaults fills in what was left out, but for settings that an output
// leaves to its sink.
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
		c.Output = []Output{{To: toStdout}}
	}
	return c
}

const defaultTimeout = 5 * time.Second
