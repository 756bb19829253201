// SPDX-License-Identifier: Apache-2.0

package niblogr_test

import (
	"errors"
	"os"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/niblogr"
)

func ExampleNew() {
	rules, err := nib.ParseRules("info,operator.cache=debug")
	if err != nil {
		panic(err)
	}
	out := nib.New(os.Stdout, nib.WithRules(rules), nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey}))
	l := niblogr.New(out)

	l.Info("started", "namespace", "default")
	cache := l.WithName("operator").WithName("cache")
	cache.V(4).Info("synced", "objects", 12)
	cache.V(5).Info("peeked")
	cache.Error(errors.New("timeout"), "cannot list", "kind", "Pod")
	// Output:
	// {"level":"info","namespace":"default","message":"started"}
	// {"level":"debug","logger":"operator.cache","objects":12,"message":"synced"}
	// {"level":"error","logger":"operator.cache","error":"timeout","kind":"Pod","message":"cannot list"}
}
