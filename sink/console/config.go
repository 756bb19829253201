// SPDX-License-Identifier: Apache-2.0

package console

import (
	"errors"
	"fmt"
	"time"

	"github.com/nib-log/nib"
)

// Color says whether colours are written.
type Color uint8

// The choices of Config.Color.
const (
	// Auto writes colours to a terminal, unless the environment variable NO_COLOR
	// is set to anything or TERM is "dumb". CLICOLOR_FORCE, unless it is "0",
	// makes up for all but NO_COLOR. On Windows and other systems without termios
	// nothing counts as a terminal.
	ColorAuto Color = iota
	ColorAlways
	ColorNever
)

// Config says how lines are shown. The zero value is the default.
type Config struct {
	// Color is Auto by default. The environment is looked at once, by New.
	Color Color
	// TimeFormat is a layout of package time, "15:04:05.000" by default;
	// nib.OmitKey leaves the time out.
	TimeFormat string
	// TimeZone is the zone that times are shown in, time.Local by default.
	TimeZone *time.Location
	// Width is the number of columns of the terminal. Fields that do not fit go
	// to rows of their own, indented. 0, the default, stands for the environment
	// variable COLUMNS, which New reads, and without it for the width of the
	// terminal that is written to, which each line asks for, so that a resized
	// window needs no signal. What is written elsewhere then has no width, and
	// each line is one row, as it is with a negative number.
	Width int
	// MessageWidth is the number of columns that logger and message take up when
	// fields follow, so that these stand below each other. A longer message, or
	// fields that would not fit otherwise, just take more. The default is 40, and
	// less where the terminal has less than 120 columns; a negative number aligns
	// nothing.
	MessageWidth int
	// Durations are keys of top-level fields that are durations, for lines that
	// have them as numbers: those of a file that is read back, or of a logger that
	// also has a sink for machines. They are shown with a unit, being in that of
	// Layout.Duration.
	Durations []string
	// Layout is that of the logger whose lines are shown: its keys, its format of
	// times and its names of levels are looked for.
	Layout nib.Layout
}

// The defaults, and the bound that keeps a mistyped width from filling the
// terminal.
const (
	defaultTimeFormat   = "15:04:05.000"
	defaultMessageWidth = 40
	maxMessageWidth     = 1000
	maxWidth            = 10_000
)

// Validate reports all faults of c, joined.
func (c Config) Validate() error {
	var errs []error
	if c.Color > ColorNever {
		errs = append(errs, fmt.Errorf("nib/console: Color %d is none of Auto, Always, Never", c.Color))
	}
	switch c.TimeFormat {
	case nib.TimeUnix, nib.TimeUnixMilli, nib.TimeUnixMicro, nib.TimeUnixNano:
		errs = append(errs, fmt.Errorf("nib/console: TimeFormat %q is not for people", c.TimeFormat))
	}
	for _, r := range c.TimeFormat {
		if !visible(r) {
			errs = append(errs, fmt.Errorf("nib/console: TimeFormat %q has control characters", c.TimeFormat))
			break
		}
	}
	if c.MessageWidth > maxMessageWidth {
		errs = append(errs, fmt.Errorf("nib/console: MessageWidth %d is above %d", c.MessageWidth, maxMessageWidth))
	}
	if c.Width > maxWidth {
		errs = append(errs, fmt.Errorf("nib/console: Width %d is above %d", c.Width, maxWidth))
	}
	return errors.Join(errs...)
}

// withDefaults fills in what the zero value stands for.
func (c Config) withDefaults() Config {
	if c.TimeFormat == "" {
		c.TimeFormat = defaultTimeFormat
	}
	if c.TimeZone == nil {
		c.TimeZone = time.Local
	}
	for _, k := range []struct {
		key  *string
		name string
	}{
		{&c.Layout.TimeKey, "time"}, {&c.Layout.LevelKey, "level"}, {&c.Layout.MessageKey, "message"},
		{&c.Layout.ErrorKey, "error"}, {&c.Layout.CallerKey, "caller"}, {&c.Layout.StackKey, "stack"},
		{&c.Layout.LoggerKey, "logger"},
	} {
		if *k.key == "" {
			*k.key = k.name
		}
	}
	if c.Layout.LevelName == nil {
		c.Layout.LevelName = nib.Level.String
	}
	if c.Layout.TimeZone == nil {
		c.Layout.TimeZone = time.UTC
	}
	return c
}
