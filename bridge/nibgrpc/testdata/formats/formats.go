// SPDX-License-Identifier: Apache-2.0

// Package formats has calls that go vet reports, each with a comment.
package formats

import (
	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/nibgrpc"
)

func wrong(e *nib.Event, g *nibgrpc.LoggerV2) {
	e.Msgf("%d", "x")     // wrong
	e.Msgf("%s")          // wrong
	g.Infof("%d", "x")    // wrong
	g.Warningf("%d", "x") // wrong
	g.Errorf("%d", "x")   // wrong
	g.Fatalf("%d", "x")   // wrong
	g.Info("%d", 1)       // wrong
	g.Infoln("%d", 1)     // wrong
	g.Warning("%d", 1)    // wrong
	g.Warningln("%d", 1)  // wrong
	g.Error("%d", 1)      // wrong
	g.Errorln("%d", 1)    // wrong
	g.Fatal("%d", 1)      // wrong
	g.Fatalln("%d", 1)    // wrong
}

func right(e *nib.Event, g *nibgrpc.LoggerV2) {
	e.Msgf("%d %s", 1, "x")
	e.Msg("%d")
	g.Infof("%d", 1)
	g.Errorln("x", 1)
}
