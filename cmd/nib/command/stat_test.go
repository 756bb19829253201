// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib/cmd/nib/command"
)

func TestStat(t *testing.T) {
	log := catLog(t)
	code, stdout, stderr := run("stat", "--utc", "--by", "level,path", "--percentiles", "took", log)
	if code != 0 || stderr != "" {
		t.Fatalf("got %d, %s", code, stderr)
	}
	for _, want := range []string{
		"5 of 5 lines\n", "\n2026-11-20 10:00:00 to 2026-11-20 10:00:03, 50ms a column\n", "\n  error |",
		"\n         10:00:00       10:00:00       10:00:01       10:00:02\n",
		"\n  lines  level  path    took p50  p90    p99    max\n",
		"\n      1  ERROR  -       1500      1500   1500   1500\n",
		"\n      1  warn   /api/b  300       300    300    300\n",
		"\nmessages\n            1  panic: no log line\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if !strings.Contains(stdout, "█") {
		t.Errorf("no histogram in\n%s", stdout)
	}

	var got struct {
		Lines, Selected int
		Groups          []struct {
			Fields      map[string]string
			Lines       int
			Percentiles map[string]map[string]float64
		}
		Messages []struct {
			Message string
			Lines   int
		}
	}
	must(t, json.Unmarshal([]byte(want(t, "stat", "-s", "-l", "warn", "--percentiles", "took", "--json", "--top", "1", log, log)), &got))
	if got.Lines != 5 || got.Selected != 3 || len(got.Groups) != 1 || len(got.Messages) != 1 || !reflect.DeepEqual(got.Groups[0].Fields, map[string]string{"level": "ERROR"}) {
		t.Errorf("got %+v", got)
	}
	if code, _, _ := run("stat", "-f", "path=none", log); code != 1 {
		t.Errorf("nothing selected: got %d", code)
	}
	if code, _, stderr := run("stat", "--top", "0", log); code != 2 || !strings.Contains(stderr, "--top must be positive") {
		t.Errorf("got %d, %s", code, stderr)
	}
}

func TestStatOfHostileLines(t *testing.T) {
	log := filepath.Join(t.TempDir(), "app.log")
	var text strings.Builder
	for _, year := range []string{"0001", "1680", "1700", "2026", "2262", "9999"} {
		fmt.Fprintf(&text, `{"time":"%s-01-02T10:00:00Z","level":"info","took":"+Inf"}`+"\n", year)
	}
	must(t, os.WriteFile(log, []byte(text.String()), 0o600))
	for _, args := range [][]string{{"stat", "--percentiles", "took", log}, {"stat", "--percentiles", "took", "--json", log}} {
		if code, stdout, stderr := run(args...); code != 0 || stdout == "" || stderr != "" {
			t.Errorf("%v: got %d, %q, %q", args, code, stdout, stderr)
		}
	}
}

func TestErrorsOfTheOutputEndVerbs(t *testing.T) {
	for _, args := range [][]string{{"stat", catLog(t)}, {"cat", catLog(t)}, {"version"}} {
		var stderr strings.Builder
		if code := command.Run(args, fullDevice{}, &stderr); code == 0 || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%v: got %d, %q", args, code, stderr.String())
		}
	}
}

type fullDevice struct{}

func (fullDevice) Write([]byte) (int, error) { return 0, syscall.ENOSPC }
