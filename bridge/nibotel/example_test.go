// SPDX-License-Identifier: Apache-2.0

package nibotel_test

import (
	"context"
	"os"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/nibotel"
)

func ExampleNewLoggerProvider() {
	otel.SetLoggerProvider(nibotel.NewLoggerProvider(nib.New(os.Stdout, nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey}))))

	// In a library that logs through OpenTelemetry:
	var r log.Record
	r.SetSeverity(log.SeverityWarn)
	r.SetBody(attribute.StringValue("connection lost"))
	otel.GetLoggerProvider().Logger("db").Emit(context.Background(), r)
	// Output: {"level":"warn","logger":"db","message":"connection lost"}
}
