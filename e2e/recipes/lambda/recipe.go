// SPDX-License-Identifier: Apache-2.0

package lambda

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/nib-log/nib"
	"github.com/nib-log/nib/request"
	"github.com/nib-log/nib/setup"
)

func Main() {
	log, err := setup.Open(setup.FromLambda(), setup.FromEnv("NIB"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer log.Close()
	lambda.Start(WithEvents(log.Logger, nil, resize))
}

// WithEvents writes an event for each invocation, which has the request id that
// Lambda shows. Standard output has each line before the function returns and
// the process is frozen: configure neither buffers nor spools.
func WithEvents[In, Out any](
	log *nib.Logger, policy *request.Policy, handle func(context.Context, In) (Out, error),
) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (out Out, err error) {
		if c, ok := lambdacontext.FromContext(ctx); ok {
			ctx = request.WithIDs(ctx, c.AwsRequestID, "")
		}
		err = policy.Run(ctx, log, lambdacontext.FunctionName, func(ctx context.Context) error {
			out, err = handle(ctx, in)
			return err
		})
		return out, err
	}
}

type picture struct{ Name string }

func resize(ctx context.Context, p picture) (string, error) {
	request.AddAttrs(ctx, slog.String("picture", p.Name))
	nib.FromContext(ctx).Debug().Msg("resizing")
	if p.Name == "" {
		return "", fmt.Errorf("no picture")
	}
	return "small/" + p.Name, nil
}
