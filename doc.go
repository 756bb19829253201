// SPDX-License-Identifier: Apache-2.0

// Package nib writes structured logs: each line is one JSON object, is encoded
// without an allocation by the goroutine that logs, and is written when the
// call returns.
//
//	log := nib.New(os.Stdout)
//	log.Info().
//		Str("method", "GET").
//		Int("status", 200).
//		Dur("took", 1500*time.Microsecond).
//		Msg("request done")
//
// writes
//
//	{"time":"2026-01-02T15:04:05.000Z","level":"info","method":"GET","status":200,"took":1.5,"message":"request done"}
//
// A method named after a level starts an [Event], which has a method for each
// type of field. Msg, Msgf, MsgFunc or Send ends it and writes the line;
// without one of them nothing is written. An Event must not be used afterwards.
// If the level is off, Info returns nil, on which every method does nothing.
//
// # Loggers
//
// A [Logger] does not change. With, WithGroup, Named and WithOptions return
// another one, which writes to the same place:
//
//	db := log.Named("db").With(func(e *nib.Event) { e.Str("host", host) })
//	db.Warn().Int("waiting", 9).Msg("slow query")
//	// {"time":"…","level":"warn","logger":"db","host":"10.0.0.7","waiting":9,"message":"slow query"}
//
// A nil *Logger and the zero Logger discard their lines, so a library can have
// a Logger in its configuration without a default for it.
//
// # Levels
//
// The level of a Logger is [LevelInfo] unless [WithLevel] sets another one.
// Given a [LevelVar], it can be changed while the program runs. [Rules] set
// levels by the names of loggers:
//
//	rules, err := nib.ParseRules("warn,db=debug,http.*=error")
//	log := nib.New(os.Stdout, nib.WithRules(rules))
//
// Panic and Fatal write their line, flush, and then panic or end the process.
// They do so even if their line is filtered out.
//
// # Contexts
//
// A request or job puts its Logger into the context that is passed along:
//
//	ctx = nib.NewContext(ctx, log.With(func(e *nib.Event) { e.Str("request_id", id) }))
//	nib.FromContext(ctx).Info().Msg("order placed")
//	log.LogAttrs(ctx, nib.LevelInfo, "order placed", slog.Int("items", 3))
//
// Both lines contain request_id. Package nibhttp does this for each request of
// an HTTP server, and lines of log/slog have it through package nibslog.
//
// # Values
//
// Any takes a value of any type. [Val] does so without boxing it, and [Inline]
// adds the fields of a struct. A type that implements [Marshaler] writes
// itself:
//
//	func (u User) MarshalNib(e *nib.Event) { e.Str("name", u.Name).Int("age", u.Age) }
//
//	log.Info().Object("user", user).Msg("signed up")
//
// A [Secret] never shows its value, and [WithRedact] replaces the values of
// keys at any depth. Methods of your types run on the goroutine that logs; if
// one panics, the line is still written and contains the text of the panic.
//
// # The shape of a line
//
// A [Layout] has the keys and formats of the fields that nib itself writes:
// time, level, message, error, call site. Package layout has layouts of other
// loggers and of log services. A field with one of these keys is renamed to
// "field." and the key, so that no field can be mistaken for the time or the
// level of the line.
//
//	log := nib.New(os.Stdout, nib.WithLayout(layout.ECS()), nib.WithCaller())
//
// # Where lines go
//
// [New] writes to an io.Writer, one Write per line, under a lock. [NewSink]
// takes a [Sink]: package sink/console shows lines to people, sink/file rotates
// files, sink/spool keeps lines until a destination such as Kafka has taken
// them, even if the process is killed, and package sink combines sinks. Package
// setup opens them as configured by environment variables.
//
//	log := nib.NewSink(console.New(os.Stderr, console.Config{}))
//
// An error of a sink never reaches the code that logs. It is counted (see
// [Logger.Stats]) and goes to the function of [WithErrorHandler], by default to
// standard error, at a limited rate.
//
// # Performance
//
// A field costs about as much as copying its bytes. No call allocates in the
// steady state, with three exceptions: Msgf and Any box their arguments before
// nib is called, methods of your types may allocate, and the first lines fill
// pools. A line whose level is off costs a comparison; compute expensive
// arguments in Func or MsgFunc, which do not run then. Bind fields that several
// lines have with [Logger.With]: they are encoded once. [NewTemplate] is for
// lines whose fields are always the same struct.
package nib

// To read the source, follow an ordinary line first, from Info to its Write:
//
//	logger.go        a Logger; Info calls begin
//	event.go         an Event: the line, and its state
//	event_begin.go   begin: the level (belowMin, passes: level.go), the call site, and
//	                 the front of the line: time, level, name, bound fields
//	event_scalar.go  Str and its siblings; reading one is enough
//	event_field.go   the steps of a field: check its key (keySet: format.go), append
//	event_finish.go  Msg calls finish: the message, the end, the sink
//	event_pool.go    the pool of events, and the state of an idle one
//	sink.go          a Record, a Sink, and write, which calls it
//
// Then read the rest in the order of docs/event-path.md, in which functions
// call only functions further down. The most important of these files is
// guard.go: every call of user code that an event makes is there. Only
// event_go127.go is not in that order: it has Val and Inline as methods, which
// Go 1.27 allows.
