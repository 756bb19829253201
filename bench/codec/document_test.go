// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/schema"
)

// A payment is the example of docs/schema.md.
type payment struct {
	ID     int64         `json:"id"`
	At     time.Time     `json:"at"`
	Card   string        `json:"card" log:"mask"`
	Amount float64       `json:"amount"`
	Took   time.Duration `json:"took_ms" log:"unit=ms"`
	Tags   []string      `json:"tags,omitempty"`
}

var paid = payment{ID: 7, At: time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC), Card: "4242", Amount: 12.5, Took: 1834512}

// document returns docs/schema.md, and its blocks of JSON.
func document(t *testing.T) (text string, blocks []string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", "schema.md"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the documents are not in the module, so its copy in a cache has none")
	} else if err != nil {
		t.Fatal(err)
	}
	text = strings.ReplaceAll(string(content), "\r\n", "\n")
	for _, part := range strings.Split(text, "```json\n")[1:] {
		block, _, _ := strings.Cut(part, "```")
		blocks = append(blocks, block)
	}
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of JSON, want 2", len(blocks))
	}
	return text, blocks
}

func TestDocumentShowsWhatIsWritten(t *testing.T) {
	text, blocks := document(t)
	codec := schema.MustFor[payment]()
	if got := string(codec.JSONSchema()); got != blocks[0] {
		t.Errorf("the schema is\n%s", got)
	}
	line, err := codec.AppendJSON(nil, &paid)
	if err != nil || !strings.Contains(text, "// "+string(line)+"\n") {
		t.Errorf("what is written is %s, %v", line, err)
	}
	_, err = schema.AppendAny(nil, order{[]item{{"1"}, {"2"}, {"3"}, {"12,50"}}})
	if err == nil || !strings.Contains(text, "\n"+strings.Replace(err.Error(), "order", "Order", 1)+"\n") {
		t.Errorf("the error is %v", err)
	}
}

type (
	order struct{ Items []item }
	item  struct{ Price json.Number }
)

// The schema of a typed line refers to the schema of its struct, and may be
// closed.
func TestSchemaOfATypedLine(t *testing.T) {
	_, blocks := document(t)
	compiled := compile(t, map[string]string{"line.json": blocks[1],
		"payment.json": string(schema.MustFor[payment]().JSONSchema())}, "line.json")
	var out bytes.Buffer
	paidLine := nib.NewTemplate[payment](nib.LevelInfo, "paid")
	paidLine.Log(context.Background(), nib.New(&out), &paid)
	if err := validate(compiled, out.Bytes()); err != nil {
		t.Errorf("%s: %v", out.Bytes(), err)
	}
	for _, change := range []struct{ old, new string }{
		{`"level":"info"`, `"level":"warn"`},
		{`"id":7,`, ``},
		{`"id":7,`, `"id":"7",`},
		{`"id":7,`, `"id":7,"more":1,`},
		{`"***"`, `"4242"`},
	} {
		text := strings.Replace(out.String(), change.old, change.new, 1)
		if text == out.String() || validate(compiled, []byte(text)) == nil {
			t.Errorf("%s in place of %s passes: %s", change.new, change.old, text)
		}
	}
}
