// SPDX-License-Identifier: Apache-2.0

// Command zap writes one line through zap, for the size of its binary and the
// time of its package initialisation.
package main

import (
	"os"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

func main() {
	encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
	l := zap.New(zapcore.NewCore(encoder, zapcore.Lock(os.Stdout), zap.InfoLevel))
	l.Info("hello", zap.String("to", "world"))
}
