// SPDX-License-Identifier: Apache-2.0

package nibhclog_test

import (
	"os"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/nibhclog"
)

func ExampleNew() {
	rules, err := nib.ParseRules("info,raft=debug")
	if err != nil {
		panic(err)
	}
	out := nib.New(os.Stdout, nib.WithRules(rules), nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey}))
	log := nibhclog.New(out)

	log.Info("started", "node", "n1")
	raft := log.Named("raft").With("term", 3)
	raft.Debug("vote granted", "from", "n2")
	raft.StandardLogger(nil).Print("a line of package log")
	// Output:
	// {"level":"info","node":"n1","message":"started"}
	// {"level":"debug","logger":"raft","term":3,"from":"n2","message":"vote granted"}
	// {"level":"info","logger":"raft","term":3,"message":"a line of package log"}
}
