// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"log/slog"
	"testing"

	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/nibslog"
)

const want = `{"level":"INFO","msg":"listening","port":8080}
{"level":"INFO","msg":"placed","service":"orders","order":{"id":17,"total":12.5,"currency":"EUR","gift":false,"took":1500000}}
{"level":"ERROR","msg":"payment failed","service":"orders","order":{"id":18,"err":"card declined"}}
`

// withoutTime leaves out the parts that differ from run to run.
func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

func TestOutput(t *testing.T) {
	var b bytes.Buffer
	run(&b, &slog.HandlerOptions{ReplaceAttr: withoutTime})
	if got := b.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestLogAttrsDoesNotAllocate(t *testing.T) {
	log := slog.New(nibslog.NewJSONHandler(io.Discard, nil)).With("service", "orders").WithGroup("order")
	alloctest.Zero(t, func() { placed(log, 17, 12.5) })
}
