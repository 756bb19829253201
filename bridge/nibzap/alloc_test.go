// SPDX-License-Identifier: Apache-2.0

package nibzap_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/bridge/nibzap"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// The fields are made once, before the calls that are counted: allocations of
// zap's API itself do not count.
func TestALineDoesNotAllocate(t *testing.T) {
	object := zapcore.ObjectMarshalerFunc(func(enc zapcore.ObjectEncoder) error {
		enc.AddString("method", "GET")
		enc.AddInt("status", 200)
		return nil
	})
	fields := []zapcore.Field{
		zap.String("s", "text"), zap.Int("i", 1), zap.Bool("b", true), zap.Float64("f", 0.5), zap.Duration("d", time.Second),
		zap.Time("t", time.Unix(0, 0)), zap.Error(errors.New("gone")), zap.Binary("bin", []byte("abc")), zap.ByteString("bs", []byte("abc")),
		zap.Object("o", object), zap.Strings("l", []string{"a", "b"}), zap.Float32s("l32", []float32{0.1}),
		zap.Inline(object), zap.Namespace("n"), zap.Uint64("u", 1),
	}
	core := nibzap.NewCore(nib.New(io.Discard, nib.WithErrorHandler(func(error) {}))).With([]zapcore.Field{zap.Namespace("bound"), zap.Int("a", 1)})
	entry := zapcore.Entry{Time: time.Unix(1767366245, 0), LoggerName: "db", Message: "request handled"}
	alloctest.Zero(t, func() { _ = core.Write(entry, fields) })

	log := zap.New(core)
	alloctest.Zero(t, func() { log.Debug("off") })
	alloctest.Zero(t, func() {
		if ce := log.Check(zap.InfoLevel, "request handled"); ce != nil {
			ce.Write(fields...)
		}
	})
}
