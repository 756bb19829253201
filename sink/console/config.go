// SPDX-License-Identifier: Apache-2.0

package console

import (
	"errors"
	"fmt"
	"time"

	"github.com/nib-log/nib"
)

// Color selects whether colours are written.
type Color uint8

// The values of Config.Color.
const (
	// ColorAuto writes colours to a terminal, unless the environment variable
	// NO_COLOR is set to anything or TERM is "dumb". CLICOLOR_FORCE, unless it
	// is "0", forces colours unless NO_COLOR is set. On Windows and other
	// systems without termios, nothing counts as a terminal.
	ColorAuto Color = iota
	ColorAlways
	ColorNever
)

// A Config configures a Sink. The zero value is ready to use.
type Config struct {
	// Color defaults to ColorAuto. Only New reads the environment.
	Color Color
	// TimeFormat is a layout of package time. Defaults to "15:04:05.000";
	// nib.OmitKey omits the time.
	TimeFormat string
	// TimeZone is the zone of the times shown. Defaults to time.Local.
	TimeZone *time.Location
	// Width is the number of columns of the terminal. Fields that do not fit go
	// to further rows, indented. If it is 0, the default, New reads the
	// environment variable COLUMNS. If COLUMNS is not set, each line queries
	// the width of the terminal, so a resized window needs no signal; output
	// that is not a terminal has no width, and each line is one row. With a
	// negative Width each line is one row as well.
	Width int
	// MessageWidth is the number of columns for logger and message if fields
	// follow, so that fields are aligned. A longer message takes more, as do
	// fields that would not fit otherwise. Defaults to 40, or less in a
	// terminal of less than 120 columns; a negative number disables alignment.
	MessageWidth int
	// Durations lists the keys of top-level fields that are durations, for
	// lines in which they are numbers: those read back from a file, or of a
	// logger that also has a sink for machines. The numbers are in the unit of
	// Layout.Duration, and are shown with a unit.
	Durations []string
	// Layout is the layout of the logger whose lines are shown: its keys, its
	// time format and its level names are recognised.
	Layout nib.Layout
}

// The defaults, and an upper bound against mistyped widths.
const (
	defaultTimeFormat = "15:04:05.000"
	maxMessageWidth   = 1000
	maxWidth          = 10_000
)

// Validate returns every error in c, joined, or nil.
func (c Config) Validate() error {
	var errs []error
	if c.Color > ColorNever {
		errs = append(errs,
			fmt.Errorf("nib/console: Color %d is none of Auto, Always, Never", c.Color))
	}
	switch c.TimeFormat {
	case nib.TimeUnix, nib.TimeUnixMilli, nib.TimeUnixMicro, nib.TimeUnixNano:
		errs = append(errs,
			fmt.Errorf("nib/console: TimeFormat %q is not for people", c.TimeFormat))
	}
	for _, r := range c.TimeFormat {
		if !visible(r) {
			errs = append(errs,
				fmt.Errorf("nib/console: TimeFormat %q has control characters", c.TimeFormat))
			break
		}
	}
	if c.MessageWidth > maxMessageWidth {
		errs = append(errs,
			fmt.Errorf("nib/console: MessageWidth %d is above %d", c.MessageWidth, maxMessageWidth))
	}
	if c.Width > maxWidth {
		errs = append(errs, fmt.Errorf("nib/console: Width %d is above %d", c.Width, maxWidth))
	}
	return errors.Join(errs...)
}

// withDefaults sets the fields that are zero to their defaults.
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
		{&c.Layout.TimeKey, "time"}, {&c.Layout.LevelKey, "level"},
		{&c.Layout.MessageKey, "message"},
		{&c.Layout.ErrorKey, "error"}, {&c.Layout.CallerKey, "caller"},
		{&c.Layout.StackKey, "stack"},
		{&c.Layout.LoggerKey, "logger"},
	} {
		if *k.key == "" {
			*k.key = k.name
		}
	}
	if c.Layout.LevelName == nil {
		c.Layout.LevelName = nib.Level.String
	}
	if c.Layout.KeepZone {
		c.Layout.TimeZone = time.Local // of the line's own time
	} else if c.Layout.TimeZone == nil {
		c.Layout.TimeZone = time.UTC
	}
	return c
}
