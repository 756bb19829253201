// SPDX-License-Identifier: Apache-2.0

package nibhttp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/nib-log/nib"
)

// LevelHandler shows and changes a level while the server runs:
//
//	GET        returns the level, as text ("info") or, if Accept names application/json, as {"level":"info"}
//	PUT, POST  sets it to the level in the body, in either form by its Content-Type, and returns the new one
//
// The answer to an invalid level is status 400 and an error; nothing changes.
// Requests that a browser makes for a page of another site are refused. Any
// other client that can reach the handler can change which lines are logged: do
// not serve it to the public. It is safe for concurrent use.
func LevelHandler(v *nib.LevelVar) http.Handler {
	return settingHandler(func(*http.Request) (setting, error) {
		return setting{key: "level", get: v.String,
			set: func(s string) error { return v.UnmarshalText([]byte(s)) }}, nil
	})
}

// RulesHandler is [LevelHandler] for the levels of all loggers by their names.
// It shows and sets the rules as a whole, such as "warn,db=debug,http.*=error",
// in JSON as {"rules":"…"}.
//
// With ?logger=db in the URL it handles only the rule of that name, as written
// in the rules ("db", "http.*", or "*" for the level of all others):
//
//	GET        returns its level, or status 404 if there is no such rule
//	PUT, POST  sets it, and adds the rule if there is none
//	DELETE     removes it
//
//	curl -X PUT -d debug localhost:8080/rules?logger=db
//
// At most 1000 rules of 64 KiB are accepted, with names of at most 256 bytes.
// Changes of single rules are made one after the other; a concurrent change
// that is not made through this handler may be lost.
//
// The body level=debug, as other handlers take it, is refused: it would be a
// rule for loggers named level. Use ?logger=level for these.
func RulesHandler(r *nib.Rules) http.Handler {
	e := &ruleEditor{rules: r}
	return settingHandler(func(req *http.Request) (setting, error) {
		query, err := url.ParseQuery(req.URL.RawQuery)
		if err != nil {
			return setting{}, err
		}
		names, ok := query["logger"]
		switch {
		case !ok:
			return setting{key: "rules", get: r.String, set: e.setAll}, nil
		case len(names[0]) > maxRuleName:
			return setting{}, fmt.Errorf(
				"nib/http: the name of a logger has %d bytes, want at most %d", len(names[0]),
				maxRuleName)
		case len(names) > 1 || names[0] == "" || strings.ContainsAny(names[0], ",= \t\r\n") ||
			strings.TrimSpace(names[0]) != names[0]:
			return setting{}, fmt.Errorf("nib/http: %q is not the name of a logger", names)
		}
		name := names[0]
		return setting{
			key:    "level",
			get:    func() string { return e.level(name) },
			set:    func(s string) error { return e.set(name, s) },
			remove: func() error { return e.remove(name) },
		}, nil
	})
}

// A setting is a level or rules to show and change.
type setting struct {
	key    string        // the key in JSON
	get    func() string // "" if there is none
	set    func(string) error
	remove func() error // nil if the setting cannot be removed
}

// maxSettingBody limits the body of a PUT.
const maxSettingBody = 64 << 10

// maxRules and maxRuleName limit the rules that RulesHandler accepts.
const (
	maxRules    = 1000
	maxRuleName = 256
)

// settingHandler serves the settings that find returns for requests.
func settingHandler(find func(*http.Request) (setting, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := find(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		switch {
		case r.Method == http.MethodGet, r.Method == http.MethodHead:
		case r.Method != http.MethodPut && r.Method != http.MethodPost &&
			(r.Method != http.MethodDelete || s.remove == nil):
			allow := "GET, HEAD, PUT, POST"
			if s.remove != nil {
				allow += ", DELETE"
			}
			w.Header().Set("Allow", allow)
			http.Error(w, "want one of "+allow, http.StatusMethodNotAllowed)
			return
		case crossSite(r):
			http.Error(w, "nib/http: a page of another site may not change this",
				http.StatusForbidden)
			return
		case r.Method == http.MethodDelete:
			if err := s.remove(); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			w.WriteHeader(http.StatusNoContent)
			return
		default:
			if err := s.read(w, r); err != nil {
				status := http.StatusBadRequest
				if errors.As(err, new(*http.MaxBytesError)) {
					status = http.StatusRequestEntityTooLarge
				}
				http.Error(w, err.Error(), status)
				return
			}
		}
		s.show(w, r)
	})
}

// read changes the setting to the value in the body.
func (s *setting) read(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxSettingBody))
	if err != nil {
		return fmt.Errorf("nib/http: %s: %w", s.key, err)
	}
	if !isJSON(r.Header.Get("Content-Type")) {
		text := strings.TrimSpace(string(body))
		if text == "" { // more likely forgotten than intended
			return fmt.Errorf("nib/http: %s: the body is empty", s.key)
		}
		return s.set(text)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil {
		return fmt.Errorf("nib/http: %s: %w", s.key, err)
	}
	var value *string
	if raw, ok := object[s.key]; ok {
		err = json.Unmarshal(raw, &value)
	}
	if value == nil || err != nil {
		return fmt.Errorf(`nib/http: want {%q:"…"}`, s.key)
	}
	return s.set(*value)
}

// show returns the setting.
func (s *setting) show(w http.ResponseWriter, r *http.Request) {
	value := s.get()
	if value == "" && s.remove != nil {
		http.Error(w, "nib/http: there is no such rule", http.StatusNotFound)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Vary", "Accept")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if accepts(r, typeJSON) {
		w.Header().Set("Content-Type", typeJSON)
		text, _ := json.Marshal(map[string]string{s.key: value}) // a string cannot fail
		fmt.Fprintf(w, "%s\n", text)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintln(w, value)
}

// accepts reports whether Accept names a media type, at any position, with a
// quality above 0.
func accepts(r *http.Request, mediaType string) bool {
	for _, accept := range r.Header["Accept"] {
		for a := range strings.SplitSeq(accept, ",") {
			t, params, err := mime.ParseMediaType(a)
			if err != nil || t != mediaType {
				continue
			}
			if q, err := strconv.ParseFloat(params["q"], 64); err != nil || q > 0 {
				return true
			}
		}
	}
	return false
}

const typeJSON = "application/json"

func isJSON(mediaType string) bool {
	t, _, err := mime.ParseMediaType(mediaType)
	return err == nil && t == typeJSON
}

// crossSite reports whether a browser makes the request for a page of another
// site. Browsers send Sec-Fetch-Site (W3C Fetch Metadata); older ones send the
// Origin (RFC 6454). Programs send neither.
func crossSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return false
	case "":
		origin := r.Header.Get("Origin")
		if origin == "" {
			return false
		}
		u, err := url.Parse(origin)
		return err != nil || u.Host != r.Host
	}
	return true
}

// A ruleEditor changes single rules within the text of all.
type ruleEditor struct {
	mu    sync.Mutex // serialises changes
	rules *nib.Rules
}

// all is the name of the rule that is a level alone.
const all = "*"

// split returns the rules with and without a name.
func (e *ruleEditor) split(name string) (found string, others []string) {
	for rule := range strings.SplitSeq(e.rules.String(), ",") {
		rule = strings.TrimSpace(rule)
		of, level, named := strings.Cut(rule, "=")
		if !named {
			of, level = all, rule
		}
		switch strings.TrimSpace(of) {
		case name:
			found = strings.TrimSpace(level) // the last of several equal names counts
		default:
			if rule != "" {
				others = append(others, rule)
			}
		}
	}
	return found, others
}

func (e *ruleEditor) level(name string) string {
	level, _ := e.split(name)
	return level
}

func (e *ruleEditor) setAll(rules string) error {
	if name, level, _ := strings.Cut(rules, "="); strings.TrimSpace(name) == "level" &&
		!strings.Contains(level, ",") {
		return fmt.Errorf("nib/http: %q is a rule for loggers named level: "+
			"write %s for all loggers, or use ?logger=level", rules, strings.TrimSpace(level))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.store(rules)
}

// store sets the rules unless there are too many: each new logger searches
// them, and any client of the handler could add one at a time.
func (e *ruleEditor) store(rules string) error {
	if n := strings.Count(rules, ",") + 1; n > maxRules {
		return fmt.Errorf("nib/http: %d rules, want at most %d", n, maxRules)
	}
	if len(rules) > maxSettingBody {
		return fmt.Errorf("nib/http: rules of %d bytes, want at most %d", len(rules),
			maxSettingBody)
	}
	return e.rules.Set(rules)
}

func (e *ruleEditor) set(name, level string) error {
	l, err := nib.ParseLevel(level)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	_, rules := e.split(name)
	if name == all {
		rules = append([]string{l.String()}, rules...)
	} else {
		rules = append(rules, name+"="+l.String())
	}
	return e.store(strings.Join(rules, ","))
}

func (e *ruleEditor) remove(name string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, rules := e.split(name)
	return e.store(strings.Join(rules, ","))
}
