// SPDX-License-Identifier: Apache-2.0

package journald_test

import (
	"fmt"
	"os"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/journald"
)

// As a systemd service the program logs to the journal, and on other systems to
// standard error.
func Example() {
	// The journal stores a time with each entry.
	layout := nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey})
	log := nib.New(os.Stderr, layout)
	journal, err := journald.Open(journald.Config{Identifier: "shop", Prefix: "SHOP_"})
	if err == nil {
		defer journal.Close()
		log = nib.NewSink(journal, layout, nib.WithCaller())
	}
	log.Info().Int("user", 42).Msg("started")
}

func ExampleSink_Stats() {
	journal, err := journald.Open(journald.Config{})
	if err != nil {
		return
	}
	defer journal.Close()
	for _, d := range journal.Stats().Dropped {
		fmt.Println(d.Lines, "lines of level", d.Level, "were lost:", d.Reason)
	}
}
