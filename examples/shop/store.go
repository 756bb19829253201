// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/nib-log/nib"
)

// A store is the database.
type store struct{ *pgxpool.Pool }

const schema = `CREATE TABLE IF NOT EXISTS stock (item text PRIMARY KEY, n bigint NOT NULL);
INSERT INTO stock VALUES ('pen', 1000000), ('ink', 1) ON CONFLICT DO NOTHING`

// openStore connects to the database at url and creates its table.
func openStore(ctx context.Context, url string) (*store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.Tracer = queryTracer{}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, schema); err != nil {
		pool.Close()
		return nil, err
	}
	return &store{pool}, nil
}

var errSoldOut = errors.New("sold out")

// reserve takes n of an item and returns the number left.
func (s *store) reserve(ctx context.Context, item string, n int64) (left int64, err error) {
	const query = `UPDATE stock SET n = n - $2 WHERE item = $1 AND n >= $2 RETURNING n`
	err = s.QueryRow(ctx, query, item, n).Scan(&left)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, errSoldOut
	}
	return left, err
}

// A queryTracer gives each statement a span, and a line with the call site that
// pgx was called from. The arguments are left out: they may be secrets.
type queryTracer struct{}

var _ pgx.QueryTracer = queryTracer{}

// A query is a statement in progress.
type query struct {
	sql   string
	start time.Time
	site  uintptr
}

type queryKey struct{}

// TraceQueryStart implements pgx.QueryTracer.
func (queryTracer) TraceQueryStart(
	ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData,
) context.Context {
	q := &query{sql: data.SQL, start: time.Now(), site: outside("github.com/jackc/pgx/")}
	ctx, _ = otel.Tracer("shop").Start(ctx, "query", trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("db.query.text", q.sql)))
	return context.WithValue(ctx, queryKey{}, q)
}

// TraceQueryEnd implements pgx.QueryTracer.
func (queryTracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	span := trace.SpanFromContext(ctx)
	defer span.End()
	level := nib.LevelInfo
	if data.Err != nil {
		level = nib.LevelError
		span.SetStatus(codes.Error, data.Err.Error())
	}
	log := nib.FromContext(ctx).Named("db")
	if !log.Enabled(level) {
		return
	}
	q := ctx.Value(queryKey{}).(*query)
	now := time.Now()
	e := log.Entry(nib.Entry{Time: now, Level: level, PC: q.site, Message: "query"})
	e.Ctx(ctx).Str("sql", q.sql).Int64("rows", data.CommandTag.RowsAffected()).
		Dur("took", now.Sub(q.start))
	if data.Err != nil {
		e.Err(data.Err)
	}
	e.Send()
}

// outside returns the innermost call site that is not in a package whose path
// begins with prefix.
func outside(prefix string) uintptr {
	var pcs [16]uintptr
	n := runtime.Callers(3, pcs[:]) // skips TraceQueryStart
	for _, pc := range pcs[:n] {
		frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
		if !strings.HasPrefix(frame.Function, prefix) {
			return pc
		}
	}
	return 0
}
