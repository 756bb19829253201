// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const (
	incidentLines  = 200_000
	incidentErrors = 3_900
)

// incident writes the log of two hours of a shop: from 11:20 to 11:40 the bank
// does not answer some of the calls, which makes three kinds of errors. Other
// warnings are as frequent as before.
func incident(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "shop.log")
	f, err := os.Create(path)
	must(t, err)
	w := bufio.NewWriter(f)
	random := rand.New(rand.NewPCG(1, 2))
	begin := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	step := 2 * time.Hour / incidentLines
	upstreams := []string{"bank", "search", "stock", "mail", "images"}
	failures := []string{"charge order %d", "refund order %d", "settle account \"c-%d\""}
	const from, until = incidentLines*2/3 + 1, incidentLines * 5 / 6
	for i, failed := 0, 0; i < incidentLines; i++ {
		upstream := upstreams[random.IntN(len(upstreams))]
		level, message, rest := "info", fmt.Sprintf("request %d served", i), ""
		switch {
		case i >= from && i < until && random.IntN(until-i) < incidentErrors-failed:
			message = fmt.Sprintf(failures[failed%3], random.IntN(1e6))
			level, upstream = "error", "bank"
			rest = `,"error":"POST http://bank.internal/v2: context deadline exceeded"`
			failed++
		case random.IntN(50) == 0:
			level, message = "warn", fmt.Sprintf("slow answer after %dms", 500+random.IntN(500))
		}
		fmt.Fprintf(w, `{"time":%q,"level":%q,"upstream":%q,"took":%d%s,"message":%q}`+"\n",
			begin.Add(time.Duration(i)*step).Format(time.RFC3339Nano), level, upstream,
			random.IntN(300), rest, message)
	}
	must(t, w.Flush(), f.Close())
	return path
}

// From an alarm, the cause of errors is found in a few answers of 8,000 bytes
// together.
func TestCauseIsFoundInLittleOutput(t *testing.T) {
	log := incident(t)
	const since, until = "2026-11-22T11:20:00Z", "2026-11-22T11:40:00Z"
	size := 0
	for _, c := range []struct {
		args string
		want []string // regular expressions
	}{
		{"stat --utc --max-bytes 2000", []string{
			`(?m)^200,000 of 200,000 lines$`, `(?m)^ +3,900  error$`,
			`(?m)^  error \| {40}[▁-█]{10} {10}\|$`, `\n +1,300  charge order \*\n`,
		}},
		{"stat --json --since " + since + " --until " + until + " --max-bytes 4000 " +
			"--against 2026-11-22T10:00:00Z.." + since, []string{
			`"changed":\{"left_out":0,"messages":\[\]\}`, `"gone":\{"left_out":0,"messages":\[\]\}`,
			`"lines":1300,"lines_before":0,"message":"charge order \*"`,
			`"lines":1300,"lines_before":0,"message":"refund order \*"`,
			`"lines":1300,"lines_before":0,"message":"settle account \\"\*\\""`,
		}},
		{"stat -l error --by upstream,error --max-bytes 1000", []string{
			`\n +3,900  bank      POST http://bank.internal/v2: context deadline exceeded\n\nmess`,
		}},
		{"cat -s -l error -n 2 --max-bytes 1000", []string{
			`^\{[^\n]*context deadline[^\n]*charge order [^\n]*\}\n\{[^\n]*"refund order [^\n]*\}\n$`,
		}},
	} {
		text := want(t, append(strings.Fields(c.args), log)...)
		size += len(text)
		for _, w := range c.want {
			if !regexp.MustCompile(w).MatchString(text) {
				t.Errorf("nib %s: no %s in\n%s", c.args, w, text)
			}
		}
	}
	if size >= 8000 {
		t.Errorf("the answers have %d bytes", size)
	}
	t.Logf("%d bytes", size)
}
