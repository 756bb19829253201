// SPDX-License-Identifier: Apache-2.0

package gin

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/gin-gonic/gin"
	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibhttp"
	"github.com/nib-log/nib/request"
)

func Handler(log *nib.Logger) http.Handler {
	own := log.Named("gin")
	gin.DefaultWriter = own.StdLog(nib.LevelDebug).Writer()
	gin.DefaultErrorWriter = own.StdLog(nib.LevelError).Writer()

	r := gin.New() // not Default, which has an access log of its own
	r.ContextWithFallback = true
	r.Use(event, gin.CustomRecoveryWithWriter(io.Discard, recovered))
	r.GET("/orders/:id", order)
	return nibhttp.Middleware(log)(r)
}

// event adds the route and the last error to the event of the request.
func event(c *gin.Context) {
	c.Request.Pattern = c.FullPath()
	c.Next()
	if last := c.Errors.Last(); last != nil {
		request.Add(c, func(e *nib.Event) { e.Err(last.Err) })
	}
}

// recovered answers after a panic.
func recovered(c *gin.Context, p any) {
	request.Add(c, func(e *nib.Event) { e.Any("panic", p).Bytes("panic_stack", debug.Stack()) })
	c.AbortWithStatus(http.StatusInternalServerError)
}

func order(c *gin.Context) {
	request.AddAttrs(c, slog.String("order", c.Param("id")))
	nib.FromContext(c).Info().Msg("looking")
	switch c.Param("id") {
	case "0":
		_ = c.AbortWithError(http.StatusServiceUnavailable, errors.New("no such shard"))
	case "-1":
		panic("negative")
	default:
		c.String(http.StatusOK, "tea")
	}
}
