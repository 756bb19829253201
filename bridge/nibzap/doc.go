// SPDX-License-Identifier: Apache-2.0

// Package nibzap implements a zapcore.Core of go.uber.org/zap with nib, for
// libraries that take a *zap.Logger and for programs that keep their calls of
// zap.
//
//	func main() {
//		core := nibzap.NewCore(nib.New(os.Stdout))
//		log := zap.New(core, zap.AddCaller(), zap.AddStacktrace(zap.ErrorLevel))
//		defer log.Sync()
//
//		log.Info("request handled", zap.String("method", "GET"), zap.Int("status", 200))
//		db := log.Named("db").With(zap.Namespace("query"), zap.String("table", "orders"))
//		db.Warn("slow", zap.Duration("took", time.Second))
//		db.Sugar().Errorw("failed", "err", errors.New("timeout"))
//	}
//
// Time, message, name, fields, call site and stack come from zap's entry; keys,
// formats, sink, hooks and counters from the [nib.Logger]. With layout.Zap the
// lines have zap's keys. The call site and the stack are shown if zap takes
// them (zap.AddCaller, zap.AddStacktrace). Of a call site without a program
// counter, which a program has set, the fields function and file are shown.
//
// # Levels
//
// debug, info, warn, error, panic and fatal have their equals in nib; dpanic is
// "error+2". The level of the Logger decides, at run time, and [nib.Rules] by
// the names of Named.
//
// After a line above error the sink is flushed, as zap's own core does it; zap
// then panics or ends the process.
//
// # Differences from zap's JSON encoder
//
// Values that fail are written under their own key: "!PANIC: …" for a String,
// Error or marshaler that panics, and "!ERROR: …" for values that encoding/json
// refuses. zap writes these under the key with "Error" after it, and with a
// marshaler that panics, the caller panics. An ObjectMarshaler or
// ArrayMarshaler that returns an error keeps the fields it has added, and the
// error is written next to it under the key with "Error" after it, as in zap.
//
// A namespace that a marshaler opens has each key once, the last one.
//
// A nil Stringer or error is null, in zap "<nil>" or what its method returns. A
// nil []byte is null, in zap "".
//
// Errors are the text of Error; zap.Error is written as [nib.Event.Err] does.
// layout.Zap adds errorVerbose and errorCauses to it.
//
// A field at the top level whose key is one of the layout's is written as
// "field." and the key; zap writes the key twice.
//
// A namespace that is given to With and gets no fields is left out, and
// zap.Namespace("") given to With changes nothing. In a namespace that a
// marshaler opens, fields are sorted.
//
// Values that are added by reflection are written as [nib.Event.Any] does.
package nibzap
