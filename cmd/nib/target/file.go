// SPDX-License-Identifier: Apache-2.0

package target

import (
	"errors"
	"time"

	"github.com/nib-log/nib/setup"
	"github.com/nib-log/nib/sink/file"
)

// file reads the target as setup reads an output, so that both have the same settings.
func (t *Target) file() (c file.Config, err error) {
	list, err := setup.ParseOutputs(t.text)
	if err != nil {
		return c, err
	}
	if len(list) != 1 {
		return c, errors.New("a comma in a path is written %2C")
	}
	o := list[0]
	if o.Level != "" || o.Format != "" || o.Buffer != 0 || o.Delay != 0 || o.Sync != "" {
		return c, errors.New("level, format, buffer, delay and sync are not for a file behind a spool")
	}
	t.Address = o.Path
	c = file.Config{
		MaxSize: int64(o.MaxSize), Every: o.Every, At: o.At,
		MaxBackups: o.Backups, MaxAge: o.MaxAge, MaxTotal: int64(o.MaxTotal),
		Mode: o.Mode, MinFree: int64(o.MinFree),
	}
	if o.Zone != "" {
		if c.Zone, err = time.LoadLocation(o.Zone); err != nil {
			return c, err
		}
	}
	if o.Compress != "" {
		c.Compress = file.Gzip{}
	}
	return c, c.Validate()
}

func (t *Target) openFile() (Destination, error) {
	c, err := t.file()
	if err != nil {
		return nil, err
	}
	return file.Open(t.Address, c)
}
