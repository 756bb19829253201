// SPDX-License-Identifier: Apache-2.0

package view

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// texts are calls of text.js and their results.
var texts = []struct{ expression, want string }{
	{`clause('status', '200', '=')`, `status = 200`},
	{`clause('status', '-0.25', '!=')`, `status != -0.25`},
	{`clause('status', '7', '=', undefined, true)`, `status = "7"`},
	{`clause('zip', '007', '=')`, `zip = "007"`},
	{`clause('ratio', '1.50', '=')`, `ratio = "1.50"`},
	{`clause('trace_id', '12345678901234567890', '=')`, `trace_id = "12345678901234567890"`},
	{`clause('msg', 'a "b"\\\n', '=')`, "`msg` = \"a \\\"b\\\"\\\\\\n\""},
	{`clause('message', 'x', '=', 'message')`, `message = "x"`},

	{`both('a = 1', 'b = 2')`, `a = 1 and b = 2`},
	{`both('a = 1 and b = 2', 'b = 2')`, `a = 1`},
	{`both('b = 2 and a = 1', 'b = 2')`, `a = 1`},
	{`both('a = 1 or c = 3', 'b = 2')`, `(a = 1 or c = 3) and b = 2`},
	{`both('(a = 1 or c = 3) and b = 2', 'b = 2')`, `(a = 1 or c = 3)`},
	{`both('a = 1 or c = 3 and b = 2', 'b = 2')`, `(a = 1 or c = 3 and b = 2) and b = 2`},
	{`both('b = 2 and c = 3 || a = 1', 'b = 2')`, `(b = 2 and c = 3 || a = 1) and b = 2`},
	{`both('a = "x or (y" and b in (1, 2)', 'b in (1, 2)')`, `a = "x or (y"`},

	{`atLeast(0)`, `0`},
	{`atLeast(19.76, 'ms')`, `19.7ms`},
	{`atLeast(0.9996)`, `0.999`},
	{`atLeast(1234.75)`, `1234`},
	{`atLeast(-1234.75)`, `-1235`},
	{`atLeast(1763920000123456789)`, `1763920000123450000`},
	{`short(9999)`, `9999`},
	{`short(12345)`, `12k`},
	{`short(1763920000123456789)`, `1.8E`},
	{`short(1e22)`, `1e+22`},

	{`range(Date.UTC(2026, 4, 2), Date.UTC(2026, 4, 2, 1), true)`, `2026-05-02 00:00:00 – 01:00:00`},
	{`range(Date.UTC(2026, 4, 2), Date.UTC(2026, 4, 4), true)`, `2026-05-02 00:00:00 – 2026-05-04 00:00:00`},
	{`range(Date.UTC(2026, 4, 2), Date.UTC(2026, 4, 2) + 200, true)`, `2026-05-02 00:00:00.000 – 00:00:00.200`},
	{`range(Date.UTC(2026, 4, 2, 3), Date.UTC(2026, 4, 2, 5), false)`, `2026-05-01 23:00:00 – 2026-05-02 01:00:00`},
	{`moment(Date.UTC(2026, 4, 2) + 50, 10, true)`, `2026-05-02 00:00:00.050`},
	{`tick(Date.UTC(2026, 4, 2), 86400e3, true)`, `2026-05-02`},
	{`tick(Date.UTC(2026, 4, 2), 86400e3, false)`, `2026-05-02`}, // a day of UTC, most of it
	{`tick(Date.UTC(2026, 4, 2, 4), 3600e3, false)`, `00:00`},
}

// The functions of text.js, run by node.
func TestE2ETexts(t *testing.T) {
	if os.Getenv("NIB_E2E") == "" {
		t.Skip("NIB_E2E is not set: it starts node")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node here")
	}
	var list []string
	for _, test := range texts {
		list = append(list, "() => String("+test.expression+")")
	}
	script := "import { clause, both, atLeast, short, range, moment, tick } from './text.js';\n" +
		"console.log(JSON.stringify([" + strings.Join(list, ", ") + "].map(f => { try { return f() } catch (e) { return e.message } })))"
	cmd := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", script)
	cmd.Dir = "../../cmd/nib/view/page/src"
	cmd.Env = append(os.Environ(), "TZ=America/New_York")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var got []string
	if err == nil {
		err = json.Unmarshal(out, &got)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, test := range texts {
		if got[i] != test.want {
			t.Errorf("%s: got %s, want %s", test.expression, got[i], test.want)
		}
	}
}
