// SPDX-License-Identifier: Apache-2.0

package fiber

import (
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/recover"
	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibhttp"
	"github.com/nib-log/nib/request"
)

func App(log *nib.Logger, policy *request.Policy) *fiber.App {
	app := fiber.New()
	app.Use(events(log, policy), recover.New())
	app.Get("/orders/:id", order)
	return app
}

// events writes an event for each request. Fiber reuses the memory of its
// strings after the handler, so strings kept by lines and ids are cloned.
func events(log *nib.Logger, policy *request.Policy) fiber.Handler {
	return func(c fiber.Ctx) error {
		start, r := time.Now(), new(request.Request)
		r.Start(c.Context(), policy, log, strings.Clone(c.Get("X-Request-Id")),
			strings.Clone(c.Get("Traceparent")))
		c.SetContext(r)
		err := c.Next()
		if err != nil { // answered here, so that the status is known
			if fault := c.App().ErrorHandler(c, err); fault != nil {
				_ = c.SendStatus(fiber.StatusInternalServerError)
			}
		}
		took, status := time.Since(start), c.Response().StatusCode()
		e := r.End(request.Outcome{Took: took, Level: nibhttp.LevelOf(status),
			Failed: status >= 500})
		if e == nil {
			return nil
		}
		e.Str("method", c.Method()).Str("path", c.Path()).Str("route", c.FullPath()).
			Int("status", status)
		e.Int("bytes", len(c.Response().Body())).Dur("took", took).Str("remote", c.IP())
		r.AddIDs(e)
		if err != nil {
			e.Err(err)
		}
		r.AddFields(e)
		e.Msg("request")
		return nil
	}
}

func order(c fiber.Ctx) error {
	ctx := c.Context() // not c, whose values are others
	request.AddAttrs(ctx, slog.String("order", c.Params("id")))
	nib.FromContext(ctx).Info().Msg("looking")
	switch c.Params("id") {
	case "0":
		return errors.Join(fiber.ErrServiceUnavailable, errors.New("no such shard"))
	case "-1":
		panic("negative")
	}
	return c.SendString("tea")
}
