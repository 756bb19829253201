// SPDX-License-Identifier: Apache-2.0

package nibhttp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibhttp"
	"github.com/nib-log/nib/nibtest"
)

func Example() {
	var clock nibtest.Clock // stands still, so that the output is known
	log := nib.New(os.Stdout, nib.WithClock(clock.Now))

	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello/{name}", func(w http.ResponseWriter, r *http.Request) {
		nib.FromContext(r.Context()).Info().Str("name", r.PathValue("name")).Msg("greeting")
		fmt.Fprintln(w, "hello")
	})
	handler := nibhttp.Middleware(log, nibhttp.Config{Now: clock.Now})(mux)

	r := httptest.NewRequest("GET", "/hello/ada", nil)
	r.Header.Set("X-Request-Id", "7f3a")
	handler.ServeHTTP(httptest.NewRecorder(), r)
	// Output:
	// {"time":"2026-01-02T15:04:05.000Z","level":"info","request_id":"7f3a","name":"ada","message":"greeting"}
	// {"time":"2026-01-02T15:04:05.000Z","level":"info","method":"GET","path":"/hello/ada","route":"GET /hello/{name}","status":200,"bytes":6,"took":0,"remote":"192.0.2.1:1234","request_id":"7f3a","message":"request"}
}

func ExampleLevelHandler() {
	var level nib.LevelVar
	log := nib.New(os.Stdout, nib.WithLevel(&level))

	mux := http.NewServeMux()
	mux.Handle("/log/level", nibhttp.LevelHandler(&level)) // curl -X PUT -d debug …/log/level
	mux.Handle("/metrics", nibhttp.MetricsHandler(log))
}

func ExampleRulesHandler() {
	rules, err := nib.ParseRules("warn,db=info")
	if err != nil {
		panic(err)
	}
	h := nibhttp.RulesHandler(rules)
	r := httptest.NewRequest("PUT", "/log/rules?logger=db", strings.NewReader("debug"))
	h.ServeHTTP(httptest.NewRecorder(), r)
	fmt.Println(rules)
	// Output:
	// warn,db=debug
}
