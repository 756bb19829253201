// SPDX-License-Identifier: Apache-2.0

package nibslog_test

import (
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibslog"
)

// One word is different: slog.NewJSONHandler has become nibslog.NewJSONHandler.
func ExampleNewJSONHandler() {
	h := nibslog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.Attr{} // not the same in each run
			}
			return a
		},
	})
	l := slog.New(h).With("service", "billing")
	l.Info("request handled", "status", 200, slog.Group("client", "ip", "192.0.2.7"))
	// Output: {"level":"INFO","msg":"request handled","service":"billing","status":200,"client":{"ip":"192.0.2.7"}}
}

// A Handler for a nib.Logger has its layout and its other options.
func ExampleNewHandler() {
	l := nib.New(os.Stdout, nib.WithLevel(nib.LevelDebug), nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey}))
	s := slog.New(nibslog.NewHandler(l.Named("db")))
	s.Debug("query done", "rows", 3, "took", 1500*time.Microsecond)
	// Output: {"level":"debug","logger":"db","rows":3,"took":1.5,"message":"query done"}
}

// SetDefault makes slog and log use one logger.
func ExampleSetDefault() {
	l := nib.New(os.Stdout, nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey}))
	nibslog.SetDefault(l)
	slog.Warn("from slog", "n", 1)
	log.Print("from log")
	l.Info().Msg("from nib")
	// Output:
	// {"level":"warn","n":1,"message":"from slog"}
	// {"level":"info","message":"from log"}
	// {"level":"info","message":"from nib"}
}
