// SPDX-License-Identifier: Apache-2.0

package echo

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/labstack/echo/v5"
	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibhttp"
	"github.com/nib-log/nib/nibslog"
	"github.com/nib-log/nib/request"
)

func Handler(log *nib.Logger) http.Handler {
	e := echo.New()
	e.Logger = slog.New(nibslog.NewHandler(log)) // for echo's own lines and c.Logger()
	answer := e.HTTPErrorHandler
	e.HTTPErrorHandler = func(c *echo.Context, err error) {
		request.Add(c.Request().Context(), func(ev *nib.Event) { ev.Err(err) })
		answer(c, err)
	}
	e.GET("/orders/:id", order)
	return nibhttp.Middleware(log)(e) // outside, where the status is known
}

func order(c *echo.Context) error {
	ctx := c.Request().Context()
	request.AddAttrs(ctx, slog.String("order", c.Param("id")))
	c.Logger().InfoContext(ctx, "looking")
	if c.Param("id") == "0" {
		return echo.ErrServiceUnavailable.Wrap(errors.New("no such shard"))
	}
	return c.String(http.StatusOK, "tea")
}
