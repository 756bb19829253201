// SPDX-License-Identifier: Apache-2.0

package nibhttp_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibhttp"
)

func TestLevelHandler(t *testing.T) {
	const text, object = "text/plain; charset=utf-8", "application/json"
	for _, c := range []struct {
		name, method, body, contentType, accept string

		status          int
		want, wantType  string
		level           nib.Level
		allow, contains string
	}{
		{name: "get text", method: "GET", status: 200, want: "warn\n", wantType: text, level: nib.LevelWarn},
		{name: "get JSON", method: "GET", accept: "text/html, application/json;q=0.9", status: 200, want: `{"level":"warn"}` + "\n", wantType: object, level: nib.LevelWarn},
		{name: "get anything but JSON", method: "GET", accept: "application/json;q=0.0, */*",
			status: 200, want: "warn\n", wantType: text, level: nib.LevelWarn},
		{name: "head", method: "HEAD", status: 200, want: "warn\n", wantType: text, level: nib.LevelWarn},
		{name: "put text", method: "PUT", body: "debug\n", status: 200, want: "debug\n", wantType: text, level: nib.LevelDebug},
		{name: "put text, answer in JSON", method: "PUT", body: "INFO+2", accept: object, status: 200, want: `{"level":"info+2"}` + "\n", wantType: object, level: nib.LevelInfo + 2},
		{name: "put JSON", method: "PUT", body: `{"level":"error"}`, contentType: object + "; charset=utf-8", status: 200, want: "error\n", wantType: text, level: nib.LevelError},
		{name: "unknown level", method: "PUT", body: "inof", status: 400, level: nib.LevelWarn, contains: `"inof"`},
		{name: "unknown level in JSON", method: "PUT", body: `{"level":"x"}`, contentType: object, status: 400, level: nib.LevelWarn, contains: `"x"`},
		{name: "no level in JSON", method: "PUT", body: `{}`, contentType: object, status: 400, level: nib.LevelWarn, contains: "want"},
		{name: "not JSON", method: "PUT", body: `debug`, contentType: object, status: 400, level: nib.LevelWarn, contains: "invalid"},
		{name: "empty", method: "PUT", status: 400, level: nib.LevelWarn, contains: "the body is empty"},
		{name: "too long", method: "PUT", body: strings.Repeat(" ", 64<<10+1), status: 413, level: nib.LevelWarn, contains: "too large"},
		{name: "post", method: "POST", body: "debug", status: 200, want: "debug\n", wantType: text, level: nib.LevelDebug},
		{name: "post of curl -d", method: "POST", body: "debug", contentType: "application/x-www-form-urlencoded", status: 200, want: "debug\n", wantType: text, level: nib.LevelDebug},
		{name: "null in JSON", method: "PUT", body: `{"level":null}`, contentType: object, status: 400, level: nib.LevelWarn, contains: "want"},
		{name: "number in JSON", method: "PUT", body: `{"level":4}`, contentType: object, status: 400, level: nib.LevelWarn, contains: "want"},
		{name: "another method", method: "PATCH", body: "debug", status: 405, level: nib.LevelWarn, contains: "GET, HEAD, PUT, POST"},
		{name: "delete", method: "DELETE", status: 405, level: nib.LevelWarn, contains: "GET, HEAD, PUT, POST"},
	} {
		var v nib.LevelVar
		v.Set(nib.LevelWarn)
		r := httptest.NewRequest(c.method, "/level", strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.contentType)
		r.Header.Set("Accept", c.accept)
		w := httptest.NewRecorder()
		nibhttp.LevelHandler(&v).ServeHTTP(w, r)
		got := w.Body.String()
		if w.Code != c.status || c.want != "" && got != c.want || !strings.Contains(got, c.contains) {
			t.Errorf("%s: got %d %q, want %d %q", c.name, w.Code, got, c.status, c.want+c.contains)
		}
		if typ := w.Header().Get("Content-Type"); c.wantType != "" && typ != c.wantType {
			t.Errorf("%s: got type %q, want %q", c.name, typ, c.wantType)
		}
		if nib.Level(v.Level()) != c.level {
			t.Errorf("%s: the level is %v, want %v", c.name, v.Level(), c.level)
		}
		if allow := w.Header().Get("Allow"); (allow != "") != (c.status == 405) {
			t.Errorf("%s: Allow is %q", c.name, allow)
		}
	}
}
