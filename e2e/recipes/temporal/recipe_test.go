// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/e2e/recipes/orders"
	"github.com/nib-log/nib/nibtest"
	"github.com/nib-log/nib/request"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

func shipment(ctx workflow.Context, item string) (string, error) {
	workflow.GetLogger(ctx).Info("shipping", "item", item)
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 2},
	})
	var label string
	return label, workflow.ExecuteActivity(ctx, Print, item).Get(ctx, &label)
}

// Print is an activity that fails the first time.
func Print(ctx context.Context, item string) (string, error) {
	activity.GetLogger(ctx).Warn("printing")
	nib.FromContext(ctx).Info().Msg("with the ids of the job")
	request.Add(ctx, func(e *nib.Event) { e.Str("item", item) })
	if activity.GetInfo(ctx).Attempt == 1 {
		return "", errors.New("out of paper")
	}
	return "label of " + item, nil
}

func TestWorkflow(t *testing.T) {
	var rec nibtest.Recorder
	log := nib.NewSink(&rec, nib.WithCaller())
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(Logger(log))
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&Events{Log: log}}})
	env.RegisterActivity(Print)
	env.ExecuteWorkflow(shipment, "tea")
	var label string
	if err := env.GetWorkflowResult(&label); err != nil || label != "label of tea" {
		t.Fatalf("got %q, %v", label, err)
	}

	at := func(text string) string { return orders.Caller(t, "recipe_test.go", text) }
	orders.Check(t, rec.Find("shipping"), map[string]any{"level": "info", "logger": "temporal", "item": "tea", "caller": at(`Info("shipping"`)})
	orders.Check(t, rec.Find("printing"), map[string]any{"level": "warn", "logger": "temporal", "ActivityType": "Print", "caller": at(`Warn("printing"`)})
	events := rec.FindAll("job")
	if len(events) != 2 {
		t.Fatalf("got %d events, want one for each attempt: %q", len(events), rec.Lines())
	}
	run := rec.Find("printing")["RunID"]
	for i, want := range []map[string]any{
		{"level": "error", "error": "out of paper", "attempt": 1.0},
		{"level": "info", "error": nil, "attempt": 2.0},
	} {
		orders.Check(t, events[i], want, map[string]any{"job": "Print", "item": "tea", "request_id": run})
	}
	orders.Check(t, rec.Find("with the ids of the job"), map[string]any{"request_id": run})
}
