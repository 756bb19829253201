// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
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

// params are the parameters of a file.
type params struct {
	Config
	Zone     string `set:"zone" is:"zone" default:"the system's" doc:"time zone of at: Europe/Berlin"`
	Compress string `set:"compress" is:"gzip|none" default:"none" doc:"how old files are compressed"`
	Sync     string `set:"sync" is:"never|flush|always" default:"never" doc:"when the disk is waited for"`
}

// config returns the Config that the parameters make.
func (p *params) config() Config {
	c := p.Config
	c.Sync = map[string]SyncPolicy{"flush": SyncFlush, "always": SyncAlways}[p.Sync]
	if p.Zone != "" {
		c.Zone, _ = time.LoadLocation(p.Zone) // the parameter was checked: is:"zone"
	}
	if p.Compress == "gzip" {
		c.Compress = Gzip(0)
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
