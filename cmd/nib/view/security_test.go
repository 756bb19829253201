// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/nib-log/nib/internal/must"
)

// A request is one to the server, and the status of its answer.
type request struct {
	name, method, path, host string
	header                   [2]string
	want                     int
}

func requests(token, host string) []request {
	return []request{
		{name: "page", path: "/" + token + "/", want: 200},
		{name: "localhost", path: "/" + token + "/", host: "localhost:8080", want: 200},
		{name: "IPv6", path: "/" + token + "/", host: "[::1]:8080", want: 200},
		{name: "own origin", path: "/" + token + "/api/rows", header: [2]string{"Origin", "http://" + host}, want: 200},
		{name: "no token", path: "/", want: 403},
		{name: "no token for the API", path: "/api/rows", want: 403},
		{name: "wrong token", path: "/" + wrong(token) + "/", want: 403},
		{name: "a part of the token", path: "/" + token[:25] + "/", want: 403},
		{name: "token without the slash", path: "/" + token, want: 403},
		{name: "token in the query", path: "/?token=" + token, want: 403},
		{name: "DNS rebinding", path: "/" + token + "/api/rows", host: "evil.example:80", want: 403},
		{name: "DNS rebinding, prefix", path: "/" + token + "/api/rows", host: "127.0.0.1.evil.example", want: 403},
		{name: "foreign origin", path: "/" + token + "/api/rows", header: [2]string{"Origin", "https://evil.example"}, want: 403},
		{name: "another server on this host", path: "/" + token + "/api/rows", header: [2]string{"Origin", "http://127.0.0.1:1"}, want: 403},
		{name: "opaque origin", path: "/" + token + "/api/rows", header: [2]string{"Origin", "null"}, want: 403},
		{name: "foreign page", path: "/" + token + "/api/rows", header: [2]string{"Sec-Fetch-Site", "cross-site"}, want: 403},
		{name: "POST", method: "POST", path: "/" + token + "/api/rows", want: 405},
		{name: "outside of the page", path: "/" + token + "/../../etc/passwd", want: 307}, // to a path without the token
		{name: "no file of the page", path: "/" + token + "/SHA256SUMS", want: 404},
	}
}

// wrong returns a token that differs from the right one in its last letter.
func wrong(token string) string {
	last := len(token) - 1
	if token[last] == 'A' {
		return token[:last] + "B"
	}
	return token[:last] + "A"
}

func TestOnlyThePageIsAnswered(t *testing.T) {
	s := run(t, "secret\n")
	address, err := url.Parse(s.address)
	must.Succeed(t, err)
	token := strings.Trim(address.Path, "/")
	if len(token) < 26 {
		t.Errorf("the token %q has less than 128 bits", token)
	}
	for _, c := range requests(token, address.Host) {
		req, err := http.NewRequest(c.method, "http://"+address.Host+c.path, nil)
		must.Succeed(t, err)
		req.Host = c.host
		if c.header[0] != "" {
			req.Header.Set(c.header[0], c.header[1])
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		must.Succeed(t, err)
		_ = resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("%s: got status %d, want %d", c.name, resp.StatusCode, c.want)
		}
		h := resp.Header
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
			"Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY",
		} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q, want %q", c.name, name, h.Get(name), want)
			}
		}
		policy := h.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; style-src 'self';") || strings.Contains(policy, "unsafe") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: the policy is %q", c.name, policy)
		}
		if h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: other origins are allowed", c.name)
		}
	}
}

// The answers contain only text that a page shows as it is.
func TestTextsAreVisible(t *testing.T) {
	s := run(t, `{"level":"info","message":"a\u202eb\u0007\u009b\u200b\nc\tä<b>","k\u0000":"\u2066v","o":{"x":"\u202e"},"stack":"a\n\tb\u001b[31m"}`+"\n"+"\x1b]0;t\x07 \xff\u202e\n")
	s.indexed("")
	var r rows
	s.get("api/rows", url.Values{"row": {"-2"}, "n": {"2"}}, &r)
	if len(r.Rows) != 2 {
		t.Fatalf("got %+v", r)
	}
	if got, want := r.Rows[0].Message, `a\u202eb\u0007\u009b\u200b⏎c ä<b>`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := r.Rows[1].Message, `\u001b]0;t\u0007 `+"\ufffd"+`\u202e`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, at := range []int64{0, r.Rows[1].At} {
		var d struct {
			Message, Raw, Pretty string
			All                  []struct{ Shown, Value, Block string }
		}
		s.get("api/line", url.Values{"at": {fmt.Sprint(at)}}, &d)
		shown := d.Message + d.Raw + d.Pretty
		for _, p := range d.All {
			shown += p.Shown + p.Value + p.Block
		}
		if i := strings.IndexFunc(shown, func(r rune) bool {
			return r < ' ' && r != '\n' && r != '\t' || r == 0x9b || r == 0x200b || r == 0x202e || r == 0x2066
		}); i >= 0 {
			t.Errorf("at %d: %q", i, shown)
		}
		if at == 0 && (len(d.All) != 3 || d.All[2].Block != "a\n\tb\\u001b[31m") {
			t.Errorf("got %+v, want the stack with its line breaks", d.All)
		}
	}
}

// The committed page is built from its sources: npm run build writes the sums
// of all of them.
func TestThePageIsBuilt(t *testing.T) {
	sums, err := os.ReadFile("page/dist/SHA256SUMS")
	must.Succeed(t, err)
	want := map[string]string{}
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		want[name] = sum
	}
	page := os.DirFS("page")
	err = fs.WalkDir(page, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == "node_modules":
			return fs.SkipDir
		case d.IsDir() || name == ".gitignore" || name == "dist/SHA256SUMS":
			return nil
		}
		text, err := fs.ReadFile(page, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
		if got := hex.EncodeToString(sum[:]); got != want[name] {
			t.Errorf("page/%s is not the one that the page was built from; run npm ci && npm run build in cmd/nib/view/page", name)
		}
		delete(want, name)
		return nil
	})
	must.Succeed(t, err)
	for name := range want {
		t.Errorf("page/%s is missing", name)
	}
}
