// SPDX-License-Identifier: Apache-2.0

package jsonread_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/nib-log/nib"
)

// A plant is one secret and the text next to it, which must stay. Secrets of
// kind tight have no characters that end a token, others have spaces and
// quotes.
type plant struct {
	n      int
	secret string
	kept   string
}

// ends returns the beginning and end of a secret, so that a part of it is found
// too.
func (p plant) ends() (first, last string) {
	return fmt.Sprintf("Zq%dA", p.n), fmt.Sprintf("O%dqZ", p.n)
}

var (
	tight = []string{"", "x", "+/=", "!$%^*", "a.b-c_d", "a:b", "€uro", "中文", "#?@", `\`}
	loose = []string{"", " ", "a b", `a " b`, `a \ b`, "a, b; c & d", "a } b ] c", "a ' b", "a\tb\nc", "{\"x\": 1}"}
)

func newPlant(n int, kinds []string) plant {
	p := plant{n: n, kept: fmt.Sprintf("kept%d", n)}
	first, last := p.ends()
	p.secret = first + kinds[n%len(kinds)] + last
	return p
}

type inner struct{ Plain string }

type account struct {
	User     string
	Password string
	Token    *inner
	Secrets  []inner `json:"api-key"`
	Nested   struct{ Secret inner }
}

func (p plant) account() account {
	a := account{User: p.kept, Password: p.secret, Token: &inner{p.secret}, Secrets: []inner{{p.secret}, {p.secret}}}
	a.Nested.Secret = inner{p.secret}
	return a
}

// printed is an account as package fmt shows all of it.
type printed struct {
	User     string
	Password string
	Token    inner
	Nested   struct{ Secret []inner }
}

func (p plant) printed() *printed {
	a := &printed{User: p.kept, Password: p.secret, Token: inner{p.secret}}
	a.Nested.Secret = []inner{{p.secret}, {p.secret}}
	return a
}

type texter string

func (t texter) String() string { return string(t) }

type failing string

func (f failing) String() string { panic(string(f)) }

// spelled writes a key in another way for each n.
func spelled(key string, n int) string {
	switch n % 4 {
	case 1:
		return strings.ToUpper(key)
	case 2:
		return strings.ToUpper(key[:1]) + key[1:]
	case 3:
		b := []byte(key)
		for i := n % 3; i < len(b); i += 2 {
			b[i] = strings.ToUpper(key)[i]
		}
		return string(b)
	}
	return key
}

// nestedJSON is JSON in a string in a string, and so on.
func nestedJSON(v any, depth int) string {
	b, _ := json.Marshal(v)
	if depth == 0 {
		return string(b)
	}
	return nestedJSON(map[string]any{"body": string(b)}, depth-1)
}

// shapes are ways in which a secret gets into a line.
var shapes = []struct {
	name  string
	kinds []string
	log   func(l *nib.Logger, p plant)
}{
	{"field", loose, func(l *nib.Logger, p plant) {
		l.Info().Str("user", p.kept).Str(spelled("password", p.n), p.secret).Strs("token", []string{p.secret}).Send()
	}},
	{"bound field", loose, func(l *nib.Logger, p plant) {
		l.With(func(e *nib.Event) { e.Str(spelled("token", p.n), p.secret) }).Info().Msg(p.kept)
	}},
	{"dict and array", loose, func(l *nib.Logger, p plant) {
		l.Info().Dict("a", func(e *nib.Event) {
			e.Array("b", func(a *nib.Array) {
				a.Dict(func(e *nib.Event) { e.Str("user", p.kept).Str("password", p.secret) })
			})
		}).Send()
	}},
	{"struct", loose, func(l *nib.Logger, p plant) { l.Info().Any("a", p.account()).Any("b", []any{p.account()}).Send() }},
	{"map", loose, func(l *nib.Logger, p plant) {
		l.Info().Any("a", map[string]any{"user": p.kept, "password": p.secret, "token": map[string]string{"x": p.secret}}).Send()
	}},
	{"raw JSON with an escaped key", loose, func(l *nib.Logger, p plant) {
		key := fmt.Sprintf("pass\\u%04xord", 'w')
		l.Info().Str("user", p.kept).RawJSON("a", fmt.Appendf(nil, `[ { "%s" : %q } ]`, key, strings.ToValidUTF8(p.secret, ""))).Send()
	}},
	{"slog groups", loose, func(l *nib.Logger, p plant) {
		l.Info().Attrs(slog.Group("a", slog.Group("b", spelled("secret", p.n), p.secret, "user", p.kept))).Send()
	}},
	{"error", tight, func(l *nib.Logger, p plant) {
		err := fmt.Errorf("dial for %s: %w", p.kept, errors.New("login failed: password="+p.secret+", retry"))
		l.Error().Err(errors.Join(err, errors.New("token: "+p.secret))).Send()
	}},
	{"URL", nil, func(l *nib.Logger, p plant) {
		u := url.URL{Scheme: "postgres", User: url.UserPassword(p.kept, p.secret), Host: "db:5432", Path: "/x"}
		raw := p.secret
		if strings.ContainsAny(raw, " \"\t#?") { // then even package url cannot find its end
			raw = "x"
		}
		_, err := url.Parse("redis://bob:" + raw + "@host:x/")
		l.Info().Str("db", u.String()).Err(err).Msgf("connect to %s", u.String())
	}},
	{"query", nil, func(l *nib.Logger, p plant) {
		q := url.Values{"user": {p.kept}, "password": {p.secret}, "token": {p.secret, p.secret}}
		l.Info().Str("path", "/login?"+q.Encode()+"#top").Msg("POST " + q.Encode() + " done")
	}},
	{"header", tight, func(l *nib.Logger, p plant) {
		h := http.Header{}
		h.Set("Authorization", "Bearer "+p.secret)
		h.Set("Cookie", "a="+p.secret+"; b="+p.secret)
		h.Set("X-User", p.kept)
		var b bytes.Buffer
		_ = h.Write(&b)
		l.Info().Str("dump", "GET / HTTP/1.1\r\n"+b.String()).Any("h", h).Msgf("%v", h)
	}},
	{"digest header", loose[:4], func(l *nib.Logger, p plant) {
		l.Info().Str("user", p.kept).Msgf("curl -H \"Authorization: Digest username=%q, response=%q\" -x http://h", p.secret, p.secret)
	}},
	{"plus v", tight, func(l *nib.Logger, p plant) { l.Info().Msgf("account %+v end", p.printed()) }},
	{"Go syntax", loose, func(l *nib.Logger, p plant) { l.Info().Msgf("account %#v end", *p.printed()) }},
	{"printed map", tight, func(l *nib.Logger, p plant) {
		l.Info().Str("user", p.kept).Msgf("%v %v", map[string]string{"password": p.secret, "x": "y"}, map[string][]string{"token": {p.secret, p.secret}})
	}},
	{"printed slices", tight, func(l *nib.Logger, p plant) {
		l.Info().Str("user", p.kept).Msgf("%+v", struct{ Password, Token []string }{[]string{p.secret, p.secret}, []string{p.secret}})
	}},
	{"JSON in a string", loose, func(l *nib.Logger, p plant) {
		l.Info().Msg(nestedJSON(map[string]any{"user": p.kept, "password": p.secret, "token": []any{p.secret, map[string]string{"x": p.secret}}}, p.n%4))
	}},
	{"indented JSON in a string", loose, func(l *nib.Logger, p plant) {
		b, _ := json.MarshalIndent(map[string]any{"user": p.kept, "password": p.secret}, "", "  ")
		l.Info().Msg(string(b))
	}},
	{"logfmt", loose[:5], func(l *nib.Logger, p plant) {
		l.Info().Msgf("user=%s password=%q --token=%q a.secret = %q", p.kept, p.secret, p.secret, p.secret)
	}},
	{"slog's text", loose[:9], func(l *nib.Logger, p plant) {
		var b bytes.Buffer
		slog.New(slog.NewTextHandler(&b, nil)).Info("x", "user", p.kept, slog.Group("g", "password", p.secret))
		l.Info().Msg(b.String())
	}},
	{"stringers and bytes", tight, func(l *nib.Logger, p plant) {
		text := "Token " + p.kept + " token: " + p.secret
		l.Info().Stringer("a", texter(text)).Stringer("b", failing(text)).Bytes("c", []byte(text)).Strs("d", []string{text}).Send()
	}},
}

// logged returns the line of a shape.
func logged(log func(*nib.Logger, plant), p plant, opts ...nib.Option) string {
	var b bytes.Buffer
	log(nib.New(&b, append(opts, nib.WithErrorHandler(func(error) {}))...), p)
	return b.String()
}

func TestPlantedSecrets(t *testing.T) {
	const each = 60
	redact := nib.WithRedact("password", "token", "secret", "api-key", "authorization", "cookie")
	for i, shape := range shapes {
		kinds := shape.kinds
		if kinds == nil { // net/url escapes them
			kinds = append(tight[:len(tight):len(tight)], loose...)
		}
		for j := range each {
			p := newPlant(i*each+j, kinds)
			first, last := p.ends()
			if plain := logged(shape.log, p); !strings.Contains(plain, first) || !strings.Contains(plain, last) {
				t.Fatalf("%s: the secret is not in the line to begin with: %s", shape.name, plain)
			}
			line := logged(shape.log, p, redact)
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: not JSON: %s", shape.name, line)
			}
			if strings.Contains(line, first) || strings.Contains(line, last) {
				t.Errorf("%s: %q is in %s", shape.name, p.secret, line)
			}
			if !strings.Contains(line, p.kept) {
				t.Errorf("%s: %q is not in %s", shape.name, p.kept, line)
			}
		}
	}
	if n := len(shapes) * each; n < 1000 || len(shapes) < 12 {
		t.Errorf("%d secrets in %d shapes, want 1,000 in 12", n, len(shapes))
	}
}
