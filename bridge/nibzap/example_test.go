// SPDX-License-Identifier: Apache-2.0

package nibzap_test

import (
	"os"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/nibzap"
	"go.uber.org/zap"
)

func ExampleNewCore() {
	core := nibzap.NewCore(nib.New(os.Stdout, nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey})))
	log := zap.New(core)

	log.Info("request handled", zap.String("method", "GET"), zap.Int("status", 200))
	db := log.Named("db").With(zap.Namespace("query"), zap.String("table", "orders"))
	db.Warn("slow", zap.Duration("took_ms", time.Second))
	// Output:
	// {"level":"info","method":"GET","status":200,"message":"request handled"}
	// {"level":"warn","logger":"db","query":{"table":"orders","took_ms":1000},"message":"slow"}
}
