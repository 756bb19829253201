// SPDX-License-Identifier: Apache-2.0

package nib_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/nib-log/nib"
)

// at sets a fixed time for the examples.
var at = nib.WithClock(func() time.Time { return time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC) })

func Example() {
	log := nib.New(os.Stdout, at)
	log.Info().Str("method", "GET").Int("status", 200).Dur("took", 1500*time.Microsecond).Msg("request done")
	// Output:
	// {"time":"2026-01-02T15:04:05.000Z","level":"info","method":"GET","status":200,"took":1.5,"message":"request done"}
}

func ExampleNew() {
	log := nib.New(os.Stdout, at, nib.WithLevel(nib.LevelWarn))
	log.Info().Msg("not written")
	log.Warn().Msg("disk almost full")
	// Output:
	// {"time":"2026-01-02T15:04:05.000Z","level":"warn","message":"disk almost full"}
}

// noTime keeps the following examples short.
var noTime = nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey})

func ExampleLogger_With() {
	log := nib.New(os.Stdout, noTime)
	request := log.With(func(e *nib.Event) { e.Str("request", "b7e2").Str("user", "alice") })
	request.Info().Msg("begin")
	request.Info().Int("bytes", 512).Msg("end")
	// Output:
	// {"level":"info","request":"b7e2","user":"alice","message":"begin"}
	// {"level":"info","request":"b7e2","user":"alice","bytes":512,"message":"end"}
}

func ExampleLogger_WithGroup() {
	log := nib.New(os.Stdout, noTime).WithGroup("http")
	log.Info().Int("status", 404).Msg("not found")
	// Output:
	// {"level":"info","http":{"status":404},"message":"not found"}
}

func ExampleLogger_Named() {
	log := nib.New(os.Stdout, noTime)
	db := log.Named("db").With(func(e *nib.Event) { e.Str("host", "10.0.0.7") })
	db.Warn().Int("waiting", 9).Msg("slow query")
	db.Named("pool").Info().Msg("connected")
	// Output:
	// {"level":"warn","logger":"db","host":"10.0.0.7","waiting":9,"message":"slow query"}
	// {"level":"info","logger":"db.pool","host":"10.0.0.7","message":"connected"}
}

func ExampleLogger_LogAttrs() {
	log := nib.New(os.Stdout, noTime)
	log.LogAttrs(context.Background(), nib.LevelInfo, "request done", slog.String("method", "GET"), slog.Group("response", slog.Int("status", 200)))
	// Output:
	// {"level":"info","method":"GET","response":{"status":200},"message":"request done"}
}

func ExampleLogger_At() {
	log := nib.New(os.Stdout, noTime)
	log.At(nib.LevelInfo + 2).Msg("between info and warn")
	// Output:
	// {"level":"info+2","message":"between info and warn"}
}

func ExampleEvent_Dict() {
	log := nib.New(os.Stdout, noTime)
	log.Info().Dict("user", func(e *nib.Event) { e.Int("id", 7).Str("name", "alice") }).Send()
	// Output:
	// {"level":"info","user":{"id":7,"name":"alice"}}
}

func ExampleEvent_Array() {
	log := nib.New(os.Stdout, noTime)
	log.Info().Array("point", func(a *nib.Array) { a.Int(3).Float(0.5).Null() }).Send()
	// Output:
	// {"level":"info","point":[3,0.5,null]}
}

// A user writes itself into a line.
type user struct {
	id   int
	name string
}

func (u *user) MarshalNib(e *nib.Event) { e.Int("id", u.id).Str("name", u.name) }

func ExampleEvent_Object() {
	log := nib.New(os.Stdout, noTime)
	u := &user{7, "alice"}
	log.Info().Object("user", u).Msg("login")
	log.Info().EmbedObject(u).Msg("login")
	// Output:
	// {"level":"info","user":{"id":7,"name":"alice"},"message":"login"}
	// {"level":"info","id":7,"name":"alice","message":"login"}
}

func ExampleEvent_Err() {
	log := nib.New(os.Stdout, noTime)
	log.Error().Err(errors.New("no such file")).Str("path", "/etc/app.json").Msg("cannot start")
	// Output:
	// {"level":"error","error":"no such file","path":"/etc/app.json","message":"cannot start"}
}

func ExampleEvent_Func() {
	log := nib.New(os.Stdout, noTime)
	log.Debug().Func(func(*nib.Event) { fmt.Println("this does not run") }).Send()
	log.Info().Func(func(e *nib.Event) { e.Int("costly", 42) }).Send()
	// Output:
	// {"level":"info","costly":42}
}

func ExampleLevelVar() {
	var level nib.LevelVar
	log := nib.New(os.Stdout, noTime, nib.WithLevel(&level))
	log.Debug().Msg("not written")
	level.Set(nib.LevelDebug)
	log.Debug().Msg("written")
	// Output:
	// {"level":"debug","message":"written"}
}

func ExampleParseLevel() {
	level, err := nib.ParseLevel("WARN+1")
	fmt.Println(level, err)
	_, err = nib.ParseLevel("inof")
	fmt.Println(err != nil)
	// Output:
	// warn+1 <nil>
	// true
}

func ExampleLayout() {
	log := nib.New(os.Stdout, at, nib.WithLayout(nib.Layout{
		TimeKey: "ts", TimeFormat: nib.TimeUnixMilli, LevelKey: "severity", MessageKey: "msg", MessageFirst: true,
		Static: func(e *nib.Event) { e.Str("service", "shop") },
	}))
	log.Info().Int("items", 3).Msg("order placed")
	// Output:
	// {"ts":1767366245000,"severity":"info","msg":"order placed","service":"shop","items":3}
}

func ExampleWithHook() {
	log := nib.New(os.Stdout, noTime, nib.WithHook(probeFilter{}))
	log.Info().Str("path", "/healthz").Msg("request done")
	log.Info().Str("path", "/").Msg("request done")
	// Output:
	// {"level":"info","path":"/","message":"request done"}
}

// A probeFilter keeps health checks out of the log.
type probeFilter struct{}

func (probeFilter) Run(e *nib.Event, _ nib.Level, _ string) {
	if path, ok := e.Lookup("path"); ok && string(path) == `"/healthz"` {
		e.Discard()
	}
}

func ExampleNewContext() {
	log := nib.New(os.Stdout, noTime).Named("request")
	ctx := nib.NewContext(context.Background(), log)
	nib.FromContext(ctx).Info().Msg("found")
	// Output:
	// {"level":"info","logger":"request","message":"found"}
}

func ExampleLogger_StdLog() {
	log := nib.New(os.Stdout, noTime)
	log.StdLog(nib.LevelWarn).Printf("from package %s", "log")
	// Output:
	// {"level":"warn","message":"from package log"}
}

// fieldPrinter is a sink that prints the fields of each record.
type fieldPrinter struct{}

func (fieldPrinter) WriteRecord(r *nib.Record) error {
	for key, value := range r.Fields() {
		fmt.Printf("%s = %s\n", key, value)
	}
	return nil
}

func ExampleRecord_Fields() {
	nib.NewSink(fieldPrinter{}, noTime).Info().Int("n", 1).Msg("m")
	// Output:
	// level = "info"
	// n = 1
	// message = "m"
}

func ExampleNewSecret() {
	log := nib.New(os.Stdout, noTime)
	password := nib.NewSecret("swordfish")
	log.Info().Any("password", password).Msg("connected")
	fmt.Println(password, len(password.Reveal()))
	// Output:
	// {"level":"info","password":"***","message":"connected"}
	// *** 9
}

func ExampleParseRules() {
	rules, err := nib.ParseRules("warn,db=debug")
	if err != nil {
		fmt.Println(err)
		return
	}
	log := nib.New(os.Stdout, noTime, nib.WithRules(rules))
	log.Info().Msg("not written")
	log.Named("db").Debug().Msg("connected")
	// Output:
	// {"level":"debug","logger":"db","message":"connected"}
}

func ExampleLogger_Entry() {
	log := nib.New(os.Stdout)
	old := nib.Entry{Time: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), Level: nib.LevelWarn, Message: "from another logger"}
	log.Entry(old).Int("attempt", 2).Send()
	// Output:
	// {"time":"2026-01-02T15:04:05.000Z","level":"warn","attempt":2,"message":"from another logger"}
}

func ExampleWriterSink() {
	s := nib.WriterSink(os.Stdout)
	if err := s.WriteRecord(&nib.Record{Line: []byte(`{"message":"done"}` + "\n")}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"message":"done"}
}

// A fixed format that the consumers of a topic rely on: service, task_id (empty
// when there is none), log_date in one zone, msg.
func ExampleNewTemplate() {
	type job struct {
		TaskID string        `json:"task_id"`
		Rows   int           `json:"rows"`
		Took   time.Duration `json:"took_ms" log:"unit=ms"`
	}
	format := nib.Layout{
		TimeKey: "log_date", TimeFormat: "2006-01-02 15:04:05.000",
		TimeZone: time.FixedZone("CST", 8*3600), LevelKey: nib.OmitKey, MessageKey: "msg",
		Static: func(e *nib.Event) { e.Str("service", "billing") },
	}
	jobDone := nib.NewTemplate[job](nib.LevelInfo, "job done")

	log := nib.New(os.Stdout, nib.WithLayout(format), at)
	ctx := context.Background()
	jobDone.Log(ctx, log, &job{TaskID: "7f31", Rows: 1200, Took: 41 * time.Millisecond})
	jobDone.Log(ctx, log, &job{Rows: 3})
	// Output:
	// {"log_date":"2026-01-02 23:04:05.000","service":"billing","task_id":"7f31","rows":1200,"took_ms":41,"msg":"job done"}
	// {"log_date":"2026-01-02 23:04:05.000","service":"billing","task_id":"","rows":3,"took_ms":0,"msg":"job done"}
}
