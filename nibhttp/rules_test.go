// SPDX-License-Identifier: Apache-2.0

package nibhttp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/nibhttp"
)

// ask sends a request to a handler, with headers as pairs of name and value.
func ask(h http.Handler, method, url, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, url, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// startRules are the rules before each of the requests below.
const startRules = "warn,db=debug,http.*=error"

const object = "application/json"

// A ruleRequest is a request to a RulesHandler, the answer, and the rules after
// it.
type ruleRequest struct {
	name, method, url, body string
	header                  []string

	status      int
	want, rules string
}

func (c ruleRequest) test(t *testing.T) {
	t.Helper()
	rules, err := nib.ParseRules(startRules)
	must.Succeed(t, err)
	w := ask(nibhttp.RulesHandler(rules), c.method, c.url, c.body, c.header...)
	if got := w.Body.String(); w.Code != c.status || !strings.Contains(got, c.want) || c.status == 200 && got != c.want {
		t.Errorf("%s: got %d %q, want %d %q", c.name, w.Code, got, c.status, c.want)
	}
	if got := rules.String(); got != c.rules {
		t.Errorf("%s: the rules are %q, want %q", c.name, got, c.rules)
	}
	if allow := w.Header().Get("Allow"); (allow != "") != (c.status == 405) {
		t.Errorf("%s: Allow is %q", c.name, allow)
	}
}

func TestRulesHandler(t *testing.T) {
	for _, c := range []ruleRequest{
		{"get", "GET", "/", "", nil, 200, startRules + "\n", startRules},
		{"get JSON", "GET", "/", "", []string{"Accept", object}, 200, `{"rules":"` + startRules + `"}` + "\n", startRules},
		{"put", "PUT", "/", " error,db=info\n", nil, 200, "error,db=info\n", "error,db=info"},
		{"post", "POST", "/", "error", nil, 200, "error\n", "error"},
		{"put JSON", "PUT", "/", `{"rules":"error"}`, []string{"Content-Type", object}, 200, "error\n", "error"},
		{"put none in JSON", "PUT", "/", `{"rules":""}`, []string{"Content-Type", object}, 200, "\n", ""},
		{"put a number in JSON", "PUT", "/", `{"rules":4}`, []string{"Content-Type", object}, 400, `want {"rules"`, startRules},
		{"put nothing", "PUT", "/", "", nil, 400, "nib/http: rules: the body is empty\n", startRules},
		{"put one fault", "PUT", "/", "info,db=loud", nil, 400, `"loud"`, startRules},
		{"put the wrong key", "PUT", "/", `{"level":"info"}`, []string{"Content-Type", object}, 400, `want {"rules"`, startRules},
		{"delete all", "DELETE", "/", "", nil, 405, "want one of GET, HEAD, PUT, POST\n", startRules},

		{"get one", "GET", "/?logger=db", "", nil, 200, "debug\n", startRules},
		{"get one in JSON", "GET", "/?logger=db", "", []string{"Accept", object}, 200, `{"level":"debug"}` + "\n", startRules},
		{"get one with a star", "GET", "/?logger=http.*", "", nil, 200, "error\n", startRules},
		{"get the rule of all others", "GET", "/?logger=*", "", nil, 200, "warn\n", startRules},
		{"get a rule that is not there", "GET", "/?logger=d", "", nil, 404, "there is no such rule", startRules},
		{"put one", "PUT", "/?logger=db", "INFO+2", nil, 200, "info+2\n", "warn,http.*=error,db=info+2"},
		{"put a new one", "POST", "/?logger=db.pool", "trace", nil, 200, "trace\n", startRules + ",db.pool=trace"},
		{"put one in JSON", "PUT", "/?logger=db", `{"level":"error"}`, []string{"Content-Type", object}, 200, "error\n", "warn,http.*=error,db=error"},
		{"put the rule of all others", "PUT", "/?logger=*", "trace", nil, 200, "trace\n", "trace,db=debug,http.*=error"},
		{"delete one", "DELETE", "/?logger=db", "", nil, 204, "", "warn,http.*=error"},
		{"delete a rule that is not there", "DELETE", "/?logger=x", "", nil, 204, "", startRules},
		{"put a wrong level", "PUT", "/?logger=db", "loud", nil, 400, `"loud"`, startRules},
		{"put another rule with it", "PUT", "/?logger=db", "info,x=trace", nil, 400, "level", startRules},
		{"put a wrong name", "PUT", "/?logger=a*b", "info", nil, 400, "*", startRules},
		{"a name that is two rules", "PUT", "/?logger=a%3Dinfo%2Cb", "info", nil, 400, "is not the name of a logger", startRules},
		{"a name with a space that is not ASCII", "PUT", "/?logger=db%C2%A0", "info", nil, 400, "is not the name of a logger", startRules},
		{"a name with a vertical tab", "PUT", "/?logger=%0Bdb", "info", nil, 400, "is not the name of a logger", startRules},
		{"no name", "PUT", "/?logger=", "info", nil, 400, "is not the name of a logger", startRules},
		{"two names", "GET", "/?logger=a&logger=b", "", nil, 400, "is not the name of a logger", startRules},
		{"a broken query", "GET", "/?logger=%zz", "", nil, 400, "invalid", startRules},
	} {
		c.test(t)
	}
}

func TestRulesHandlerRefusesPagesOfOtherSites(t *testing.T) {
	for _, c := range []ruleRequest{
		{"of the same site", "POST", "/", "error", []string{"Sec-Fetch-Site", "same-origin"}, 200, "error\n", "error"},
		{"typed by the user", "POST", "/", "error", []string{"Sec-Fetch-Site", "none"}, 200, "error\n", "error"},
		{"of another site", "POST", "/", "error", []string{"Sec-Fetch-Site", "cross-site"}, 403, "another site", startRules},
		{"of a neighbour", "DELETE", "/?logger=db", "", []string{"Sec-Fetch-Site", "same-site"}, 403, "another site", startRules},
		{"of the same origin", "PUT", "/", "error", []string{"Origin", "http://example.com"}, 200, "error\n", "error"},
		{"of another origin", "PUT", "/", "error", []string{"Origin", "http://evil.example"}, 403, "another site", startRules},
		{"of no origin", "PUT", "/", "error", []string{"Origin", "null"}, 403, "another site", startRules},
		{"shown to another site", "GET", "/", "", []string{"Sec-Fetch-Site", "cross-site"}, 200, startRules + "\n", startRules},
	} {
		c.test(t)
	}
}

func TestRulesHandlerLosesNoChangeOfItsOwn(t *testing.T) {
	rules, err := nib.ParseRules("info")
	must.Succeed(t, err)
	h := nibhttp.RulesHandler(rules)
	await.Goroutines(20, func(i int) {
		ask(h, "PUT", fmt.Sprintf("/?logger=n%d", i), "debug")
	})
	for i := range 20 {
		if w := ask(h, "GET", fmt.Sprintf("/?logger=n%d", i), ""); w.Body.String() != "debug\n" {
			t.Errorf("n%d: got %d %q", i, w.Code, w.Body.String())
		}
	}
}

func TestRulesHandlerChangesWhatLoggersWrite(t *testing.T) {
	rules, err := nib.ParseRules("warn")
	must.Succeed(t, err)
	log := nib.New(new(strings.Builder), nib.WithRules(rules)).Named("db")
	if log.Enabled(nib.LevelDebug) {
		t.Fatal("debug is on before")
	}
	ask(nibhttp.RulesHandler(rules), "PUT", "/?logger=db", "debug")
	if !log.Enabled(nib.LevelDebug) {
		t.Error("debug is off after")
	}
}

// The form that handlers of other loggers take is no rule for loggers named
// level.
func TestRulesHandlerRefusesTheFormOfALevel(t *testing.T) {
	rules, err := nib.ParseRules("warn")
	must.Succeed(t, err)
	h := nibhttp.RulesHandler(rules)
	for _, body := range []string{"level=debug", " level = debug ", `{"rules":"level=debug"}`} {
		kind := "text/plain"
		if body[0] == '{' {
			kind = "application/json"
		}
		w := ask(h, "PUT", "/", body, "Content-Type", kind)
		text := w.Body.String()
		if w.Code != http.StatusBadRequest || !strings.Contains(text, "write debug for all") {
			t.Errorf("%s: got %d %s", body, w.Code, text)
		}
	}
	if w := ask(h, "PUT", "/?logger=level", "debug"); w.Code != http.StatusOK {
		t.Errorf("a logger named level: got %d %s", w.Code, w.Body)
	}
	const both = "info,level=debug"
	if w := ask(h, "PUT", "/", both); w.Code != http.StatusOK || rules.String() != both {
		t.Errorf("with other rules: got %d %s", w.Code, w.Body)
	}
}
