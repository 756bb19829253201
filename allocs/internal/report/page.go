// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/findings"
)

// The parts of the page besides the data. The parts of the script form one
// script in this order.
var (
	//go:embed page/page.html
	pageSource string
	//go:embed page/page.css
	pageStyle string
	//go:embed page/data.js
	scriptData string
	//go:embed page/head.js
	scriptHead string
	//go:embed page/matrix.js
	scriptMatrix string
	//go:embed page/detail.js
	scriptDetail string
	//go:embed page/start.js
	scriptStart string

	pageScript = scriptData + scriptHead + scriptMatrix + scriptDetail + scriptStart
)

var pageTemplate = template.Must(template.New("page").Parse(pageSource))

// HTML writes one page that needs nothing else. The findings are data, from
// which its script renders the visible part: a page of 1,000 roots would be far
// too large to render at once. Its content security policy allows only this
// script, whatever source code is quoted in the page.
func HTML(w io.Writer, d *findings.Document, o *baseline.Outcome) error {
	data, err := json.Marshal(pack(d, o)) // escapes <, > and &, so that no text ends the element
	if err != nil {
		return err
	}
	var b bytes.Buffer
	err = pageTemplate.Execute(&b, map[string]any{
		"Title": d.Module,
		"Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; script-src '" + digest(pageScript) +
			"'; style-src '" + digest(pageStyle) + "'",
		"Style":  template.CSS(pageStyle),
		"Script": template.JS(pageScript),
		"Data":   template.JS(data),
	})
	if err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// digest returns the hash that allows an element's text in a content security
// policy.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
