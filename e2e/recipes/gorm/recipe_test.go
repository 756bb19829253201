// SPDX-License-Identifier: Apache-2.0

package gorm

import (
	"context"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/e2e/recipes/orders"
	"github.com/nib-log/nib/e2e/recipes/postgres"
	"github.com/nib-log/nib/nibtest"
	"github.com/nib-log/nib/request"
	dialect "gorm.io/driver/postgres"
)

type item struct {
	ID     int
	Secret string
}

func TestStatements(t *testing.T) {
	var rec nibtest.Recorder
	rules, err := nib.ParseRules("info")
	if err != nil {
		t.Fatal(err)
	}
	log := nib.NewSink(&rec, nib.WithCaller(), nib.WithRules(rules))
	db, err := Open(dialect.Open(postgres.Start(t)), log)
	if err != nil {
		t.Fatal(err)
	}
	var policy *request.Policy
	err = policy.Run(t.Context(), log, "tidy", func(ctx context.Context) error {
		db := db.WithContext(ctx)
		if err := db.Exec("CREATE TABLE items (id int PRIMARY KEY, secret text)").Error; err != nil {
			return err
		}
		if err := db.Create(&item{1, "hunter2"}).Error; err != nil {
			return err
		}
		if err := rules.Set("info,gorm=error"); err != nil {
			return err
		}
		if err := db.First(new(item), 1).Error; err != nil { // not logged
			return err
		}
		return db.Exec("SELECT 1/0").Error
	})
	if err == nil || !strings.Contains(err.Error(), "division by zero") {
		t.Fatalf("got %v, want division by zero", err)
	}
	if all := strings.Join(rec.Lines(), "\n"); strings.Contains(all, "hunter2") {
		t.Errorf("a parameter is in the log:\n%s", all)
	}
	lines, id := rec.FindAll("SQL executed"), rec.Find("job")["request_id"]
	if len(lines) != 3 || id == nil {
		t.Fatalf("got %d lines, want 3: %q", len(lines), rec.Lines())
	}
	for i, want := range []map[string]any{
		nil, // info, or warn on a machine on which it takes longer than 200 ms
		nil,
		{"level": "error"},
	} {
		if level := lines[i]["level"]; want == nil && level != "info" && level != "warn" {
			t.Errorf("got the level %v", level)
		}
		orders.Check(t, lines[i], want, map[string]any{"logger": "gorm", "request_id": id})
		if caller, _ := lines[i]["caller"].(string); !strings.HasPrefix(caller, "gorm/recipe_test.go:") {
			t.Errorf("got the caller %q, want one in this file", caller)
		}
	}
	trace := lines[2]["trace"].(map[string]any)
	if failure, _ := trace["error"].(string); trace["sql"] != "SELECT 1/0" || !strings.Contains(failure, "division by zero") {
		t.Errorf("got %v", trace)
	}
}
