// SPDX-License-Identifier: Apache-2.0

package stdout_test

import (
	"fmt"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/stdout"
)

func Example() {
	out := stdout.New(stdout.Config{})
	defer out.Close()
	log := nib.NewSink(out, nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey}))
	log.Info().Int("port", 8080).Msg("ready")
	// Output: {"level":"info","port":8080,"message":"ready"}
}

// Lines are collected for a millisecond. Before the program ends they are
// written by Fatal, which flushes, or by Close.
func Example_buffered() {
	out := stdout.New(stdout.Config{Buffer: 32 << 10})
	log := nib.NewSink(out, nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey}))
	for i := range 3 {
		log.Info().Int("request", i).Msg("served")
	}
	if err := out.Close(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"level":"info","request":0,"message":"served"}
	// {"level":"info","request":1,"message":"served"}
	// {"level":"info","request":2,"message":"served"}
}
