// SPDX-License-Identifier: Apache-2.0

// Command quickstart shows the native API: a logger, fields, bound fields,
// nested objects, errors and levels.
package main

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/nib-log/nib"
)

func main() { run(os.Stdout) }

// run writes all output of the program to w.
func run(w io.Writer, opts ...nib.Option) {
	log := nib.New(w, opts...)

	log.Info().Str("version", "1.4.2").Int("port", 8080).Msg("listening")

	// With binds fields to a new logger; log itself stays as it is.
	jobs := log.Named("jobs").With(func(e *nib.Event) { e.Str("queue", "mail") })
	for i := range 2 {
		process(jobs, job{id: 100 + i, took: 1500 * time.Microsecond})
	}

	err := errors.Join(errors.New("no space left"), errors.New("/var/spool/mail"))
	jobs.Error().Err(err).Int("job", 102).Msg("job failed")

	log.Debug().Msg("off by default: this costs a comparison and writes nothing")
	if log.Enabled(nib.LevelDebug) {
		log.Debug().Str("state", dump()).Msg("for values that are dear to make")
	}
}

type job struct {
	id   int
	took time.Duration
}

// MarshalNib lets a job write itself as an object.
func (j *job) MarshalNib(e *nib.Event) {
	e.Int("id", j.id).Dur("took", j.took)
}

func process(log *nib.Logger, j job) {
	log.Info().
		Object("job", &j).
		Dict("to", func(e *nib.Event) { e.Str("host", "mx1").Bool("tls", true) }).
		Array("tries", func(a *nib.Array) { a.Int(1).Int(2) }).
		Msg("job done")
}

func dump() string { return "…" }
