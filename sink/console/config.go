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
	Auto Color = iota
	Always
	Never
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
	// MessageWidth is the number of columns that logger and message take up when
	// fields follow, so that these stand below each other. A longer message just
	// takes more. Default 40; a negative number aligns nothing.
	MessageWidth int
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
)

// Validate reports all faults of c, joined.
func (c Config) Validate() error {
	var errs []error
	if c.Color > Never {
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
	if c.MessageWidth == 0 {
		c.MessageWidth = defaultMessageWidth
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
