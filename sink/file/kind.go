// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"io/fs"
	"time"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/target"
)

// Kind opens files for targets such as file:/var/log/app.log?max_size=100MB.
// Its destinations are of type [*Sink].
var Kind = target.Spec{
	Forms:  []string{"file:PATH"},
	Doc:    "a file that lines are appended to, with rotation",
	Params: func() target.Params { return new(params) },
}

// params are the parameters of a file: the fields of Config.
type params struct {
	Buffer   int           `set:"buffer" is:"size" default:"none" doc:"lines are collected up to this size and written together; errors at once"`
	Delay    time.Duration `set:"delay" default:"10ms" doc:"how long a line may wait in the buffer"`
	MaxSize  int64         `set:"max_size" is:"size" default:"any" doc:"size of a file that ends it"`
	Every    time.Duration `set:"every" default:"never" doc:"begin a file at each multiple of this time: 1h"`
	At       []string      `set:"at" is:"time" default:"never" doc:"begin a file at this time of day: 00:00; may be given several times"`
	Zone     string        `set:"zone" is:"zone" default:"the system's" doc:"time zone of at: Europe/Berlin"`
	Backups  int           `set:"backups" default:"all" doc:"how many old files are kept"`
	MaxAge   time.Duration `set:"max_age" default:"any" doc:"how long old files are kept: 7d"`
	MaxTotal int64         `set:"max_total" is:"size" default:"any" doc:"size of all old files"`
	Compress string        `set:"compress" is:"gzip|none" default:"none" doc:"how old files are compressed"`
	Mode     fs.FileMode   `set:"mode" default:"0600" doc:"permissions of new files"`
	MinFree  int64         `set:"min_free" is:"size" default:"0B" doc:"size that is left free on the file system"`
	Sync     string        `set:"sync" is:"never|flush|always" default:"never" doc:"when the disk is waited for"`
}

// config returns the Config without the parameters that Validate rejects.
func (p *params) config() Config {
	c := Config{
		MaxSize: p.MaxSize, Every: p.Every, At: p.At, MaxBackups: p.Backups, MaxAge: p.MaxAge, MaxTotal: p.MaxTotal,
		Mode: p.Mode, Buffer: p.Buffer, Delay: p.Delay, MinFree: p.MinFree,
		Sync: map[string]SyncPolicy{"flush": SyncFlush, "always": SyncAlways}[p.Sync],
	}
	if p.Zone != "" {
		c.Zone, _ = time.LoadLocation(p.Zone) // parsed before
	}
	if p.Compress == "gzip" {
		c.Compress = Gzip{}
	}
	return c
}

// Validate implements [target.Params].
func (p *params) Validate(t target.Target) error {
	return errors.Join(checkPath(t.Path), p.config().Validate())
}

// Open implements [target.Params].
func (p *params) Open(t target.Target) (delivery.Destination, error) {
	c := p.config()
	c.Layout, c.View = t.Layout, t.View
	return Open(t.Path, c)
}
