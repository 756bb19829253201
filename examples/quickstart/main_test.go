// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/nibtest"
)

const want = `{"time":"2026-01-02T15:04:05.000Z","level":"info","version":"1.4.2","port":8080,"message":"listening"}
{"time":"2026-01-02T15:04:05.000Z","level":"info","logger":"jobs","queue":"mail","job":{"id":100,"took":1.5},"to":{"host":"mx1","tls":true},"tries":[1,2],"message":"job done"}
{"time":"2026-01-02T15:04:05.000Z","level":"info","logger":"jobs","queue":"mail","job":{"id":101,"took":1.5},"to":{"host":"mx1","tls":true},"tries":[1,2],"message":"job done"}
{"time":"2026-01-02T15:04:05.000Z","level":"error","logger":"jobs","queue":"mail","error":"no space left\n/var/spool/mail","job":102,"message":"job failed"}
`

func TestOutput(t *testing.T) {
	var clock nibtest.Clock
	var b bytes.Buffer
	run(&b, nib.WithClock(clock.Now))
	if got := b.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestLinesDoNotAllocate(t *testing.T) {
	log := nib.New(io.Discard)
	alloctest.Zero(t, func() { log.Info().Str("version", "1.4.2").Int("port", 8080).Msg("listening") })
	alloctest.Zero(t, func() { log.Debug().Msg("off") })
}

// A value that writes itself is passed by pointer, so Go allocates it on the
// heap: one malloc, which is the caller's. A value that is kept needs none.
func TestObjectOfTheCallersIsHisOneMalloc(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("mallocs mean nothing in this build")
	}
	log := nib.New(io.Discard)
	if got, _ := alloctest.Count(func() { process(log, job{id: 1}) }, 1000); got != 1 {
		t.Errorf("got %v mallocs, want 1", got)
	}
	kept := &job{id: 1}
	alloctest.Zero(t, func() { log.Info().Object("job", kept).Msg("job done") })
}
