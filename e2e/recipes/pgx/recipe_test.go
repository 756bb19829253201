// SPDX-License-Identifier: Apache-2.0

package pgx

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/e2e/recipes/orders"
	"github.com/nib-log/nib/e2e/recipes/postgres"
	"github.com/nib-log/nib/nibtest"
	"github.com/nib-log/nib/request"
	"github.com/nib-log/nib/sink"
)

func TestStatements(t *testing.T) {
	var rec nibtest.Recorder
	log := nib.NewSink(&rec, nib.WithLevel(nib.LevelDebug))
	config, err := Config(postgres.Start(t), log)
	if err != nil {
		t.Fatal(err)
	}
	tracer := config.Tracer.(*Tracer)
	if tracer.Slow != 200*time.Millisecond {
		t.Errorf("got %v, want the limit that the recipe states", tracer.Slow)
	}
	tracer.Slow = time.Hour // for a busy machine
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var policy *request.Policy
	err = policy.Run(t.Context(), log, "tidy", func(ctx context.Context) error {
		if _, err := conn.Exec(ctx, "CREATE TABLE items (id int)"); err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, "INSERT INTO items VALUES ($1), ($2)", 31337, 2); err != nil {
			return err
		}
		tracer.Slow = 0
		if _, err := conn.Exec(ctx, "SELECT 1"); err != nil {
			return err
		}
		var n int
		return conn.QueryRow(ctx, "SELECT 1/0").Scan(&n)
	})
	if err == nil || !strings.Contains(err.Error(), "division by zero") {
		t.Fatalf("got %v, want division by zero", err)
	}
	lines, id := rec.FindAll("statement"), rec.Find("job")["request_id"]
	if len(lines) != 4 || id == nil {
		t.Fatalf("got %d lines, want 4: %q", len(lines), rec.Lines())
	}
	for i, want := range []map[string]any{
		{"level": "debug", "sql": "CREATE TABLE items (id int)"},
		{"level": "debug", "sql": "INSERT INTO items VALUES ($1), ($2)", "rows": 2.0},
		{"level": "warn", "sql": "SELECT 1"},
		{"level": "error", "sql": "SELECT 1/0", "error": "ERROR: division by zero (SQLSTATE 22012)"},
	} {
		orders.Check(t, lines[i], want, map[string]any{"logger": "pgx", "request_id": id})
	}
	if all := strings.Join(rec.Lines(), "\n"); strings.Contains(all, "31337") {
		t.Errorf("an argument is in the log:\n%s", all)
	}
}

func TestMallocsOfAStatement(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("mallocs mean nothing in this build")
	}
	tracer, ctx := &Tracer{Log: nib.NewSink(sink.Discard())}, t.Context()
	var start pgx.TraceQueryStartData
	end := pgx.TraceQueryEndData{CommandTag: pgconn.NewCommandTag("SELECT 1")}
	if got, _ := alloctest.Count(func() {
		tracer.TraceQueryEnd(tracer.TraceQueryStart(ctx, nil, start), nil, end)
	}, 1000); got != 1 {
		t.Errorf("got %v mallocs a statement, want 1", got)
	}
}
