// SPDX-License-Identifier: Apache-2.0

// Package nibslog implements a [slog.Handler] of log/slog with nib.
//
// To switch, change one word:
//
//	func main() {
//		// was: handler := slog.NewJSONHandler(os.Stdout, nil)
//		handler := nibslog.NewJSONHandler(os.Stdout, nil)
//
//		log := slog.New(handler)
//		log.Info("request done", "status", 200)
//		// {"time":"…","level":"INFO","msg":"request done","status":200}
//
//		slog.SetDefault(log)
//	}
//
// The lines have the same keys, order and values. [NewHandler] takes a
// [nib.Logger] instead, with its layout, sink, hooks and sampler; [SetDefault]
// makes the functions of slog and log use one. A call of slog's LogAttrs with
// plain values does not allocate.
//
// # Requests
//
// A line that is logged with a context has the bound fields of the logger that
// the context carries (see [nib.NewContext]), at its top level. Behind
// nibhttp.Middleware these are the ids of the request and its trace:
//
//	slog.InfoContext(r.Context(), "order placed") // … "request_id":"…","msg":"order placed"}
//
// # Differences from slog.JSONHandler
//
// Safety of lines:
//   - A top-level attribute with a built-in key (time, level, msg, and source
//     with AddSource) is written as "field." and the key, so that no attribute
//     can be taken for a field of the handler.
//   - DEL, C1 controls, bidirectional controls, U+2028, U+2029 and U+FEFF are
//     written as \uXXXX. Decoded, the strings are the same.
//   - Containers are nested at most 32 deep; a deeper one becomes the text
//     "!ERROR: nested deeper than 32". slog follows a LogValuer that contains
//     itself until the stack is full.
//   - The output of MarshalJSON is checked, and put on one line. Invalid raw
//     JSON becomes a string.
//
// Values:
//   - NaN and infinities are the strings "NaN", "+Inf", "-Inf"; in slog an
//     error.
//   - Errors of encoding are "!ERROR: …", in slog "!ERROR:…".
//   - A panic is "!PANIC: …" also in LogValue (slog: an error with a stack) and
//     in ReplaceAttr (slog: the caller panics). A LogValue that never resolves
//     to a value is an "!ERROR: …".
//   - A nil pointer that is an error, or whose LogValue panics, is null; in
//     slog "<nil>" or the error with a stack.
//   - An element of a map[string]any or []any that cannot be encoded does not
//     affect the others; in slog the whole attribute fails.
//   - In slices, maps and structs, too, an error is its text, a LogValuer is
//     resolved, and a slog.Value or slog.Attr is its value; in slog, these are
//     mostly {}.
//   - A [nib.Marshaler] writes itself.
//   - Years beyond 9999 are written in full; slog's line is not valid JSON
//     then.
//
// Groups:
//   - A group whose attributes all turn out to be empty is left out. slog
//     writes {} when they are LogValuers for empty groups; otherwise it omits
//     the comma after the group, and passes the name of the group to
//     ReplaceAttr with the attributes that follow.
//   - WithGroup("") on the handler changes nothing, as the interface demands.
//
// Package log: lines of log.Panic and log.Fatal, and of the same methods of
// [slog.NewLogLogger], have the level ERROR+4 or ERROR+8. In slog, and here
// with ReplaceAttr, they have the level of all other lines.
//
// Errors: Handle returns nil. Errors of the writer are counted in
// [Handler.Stats] and go to the error handler of the logger, by default to
// standard error; see [nib.WithErrorHandler].
package nibslog
