// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"context"
	"log/slog"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibslog"
	"github.com/nib-log/nib/request"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	tlog "go.temporal.io/sdk/log"
)

// Logger is for client.Options.Logger: the lines of the SDK and of
// workflow.GetLogger, whose lines are not repeated when a workflow is replayed.
func Logger(log *nib.Logger) tlog.Logger {
	return tlog.NewStructuredLogger(slog.New(nibslog.NewHandler(log.Named("temporal"))))
}

// Events writes an event for each activity: it is one of
// worker.Options.Interceptors.
type Events struct {
	interceptor.WorkerInterceptorBase
	Log    *nib.Logger
	Policy *request.Policy
}

// InterceptActivity implements interceptor.WorkerInterceptor.
func (v *Events) InterceptActivity(
	_ context.Context, next interceptor.ActivityInboundInterceptor,
) interceptor.ActivityInboundInterceptor {
	a := &activityEvents{events: v}
	a.Next = next
	return a
}

type activityEvents struct {
	interceptor.ActivityInboundInterceptorBase
	events *Events
}

// ExecuteActivity implements interceptor.ActivityInboundInterceptor.
func (a *activityEvents) ExecuteActivity(
	ctx context.Context, in *interceptor.ExecuteActivityInput,
) (out any, err error) {
	info := activity.GetInfo(ctx)
	ctx = request.WithIDs(ctx, info.WorkflowExecution.RunID, "")
	err = a.events.Policy.Run(ctx, a.events.Log, info.ActivityType.Name,
		func(ctx context.Context) (err error) {
			request.AddAttrs(ctx, slog.String("workflow", info.WorkflowExecution.ID),
				slog.Int("attempt", int(info.Attempt)))
			out, err = a.Next.ExecuteActivity(ctx, in)
			return err
		})
	return out, err
}
