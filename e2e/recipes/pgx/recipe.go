// SPDX-License-Identifier: Apache-2.0

package pgx

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nib-log/nib"
)

// A Tracer logs statements: those that fail or take Slow or longer, and the
// others if debug is enabled. It leaves out their arguments. Each statement
// costs one allocation.
type Tracer struct {
	Log  *nib.Logger
	Slow time.Duration
}

var _ pgx.QueryTracer = (*Tracer)(nil)

// A statement is in progress. It is the context of its statement.
type statement struct {
	context.Context
	sql   string
	start time.Time
}

// Value implements context.Context.
func (s *statement) Value(key any) any {
	if key == (statementKey{}) {
		return s
	}
	return s.Context.Value(key)
}

type statementKey struct{}

// TraceQueryStart implements pgx.QueryTracer.
func (t *Tracer) TraceQueryStart(
	ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData,
) context.Context {
	return &statement{ctx, q.SQL, time.Now()}
}

// TraceQueryEnd implements pgx.QueryTracer.
func (t *Tracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryEndData) {
	s, ok := ctx.Value(statementKey{}).(*statement)
	if !ok {
		return
	}
	took, level := time.Since(s.start), nib.LevelDebug
	switch {
	case q.Err != nil:
		level = nib.LevelError
	case took >= t.Slow:
		level = nib.LevelWarn
	}
	e := t.Log.At(level).Ctx(ctx).Str("sql", s.sql).Dur("took", took)
	if q.Err != nil {
		e.Err(q.Err)
	} else {
		e.Int64("rows", q.CommandTag.RowsAffected())
	}
	e.Msg("statement")
}

func Config(address string, log *nib.Logger) (*pgx.ConnConfig, error) {
	c, err := pgx.ParseConfig(address)
	if err == nil {
		// In the configuration of pgxpool it is ConnConfig.Tracer.
		c.Tracer = &Tracer{Log: log.Named("pgx"), Slow: 200 * time.Millisecond}
	}
	return c, err
}
