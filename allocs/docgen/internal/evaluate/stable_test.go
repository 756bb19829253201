// SPDX-License-Identifier: Apache-2.0

package evaluate_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// burnEnv turns this test binary into a process that does nothing but keep a
// processor busy.
const burnEnv = "NIB_ALLOCS_BURN"

func TestMain(m *testing.M) {
	if os.Getenv(burnEnv) != "" {
		burn()
	}
	os.Exit(m.Run())
}

// burn ends with its parent: the pipe on standard input closes.
func burn() {
	go func() {
		os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}()
	for x := uint64(1); ; x = x*6364136223846793005 + 1 {
		if x == 0 {
			runtime.Gosched()
		}
	}
}

// stableRuns returns how often the tool is run, and how many of it at a time:
// NIB_E2E_RUNS, or 200 in full runs and 2 in short ones. NIB_E2E_BURN is the
// number of processes beside them; if it is not set, one for each processor.
func stableRuns(t *testing.T) (runs, atATime, burning int) {
	t.Helper()
	switch os.Getenv("NIB_E2E") {
	case "full":
		runs, atATime = 200, 2*runtime.NumCPU()
	case "short":
		runs, atATime = 2, 1
	default:
		t.Skip("NIB_E2E is not set: the tool is run again and again for minutes (short: twice, full: 200 times)")
	}
	burning = runtime.NumCPU()
	if n, err := strconv.Atoi(os.Getenv("NIB_E2E_RUNS")); err == nil {
		runs = n
	}
	if n, err := strconv.Atoi(os.Getenv("NIB_E2E_BURN")); err == nil {
		burning = n
	}
	return runs, atATime, burning
}

// TestE2ESameResultsUnderLoad runs the tool beside processes that burn all
// processors, and several at a time in full runs, every second time without
// kept results, and requires the same document each time. steady leaves out the
// parts that may differ.
func TestE2ESameResultsUnderLoad(t *testing.T) {
	runs, atATime, burning := stableRuns(t)
	tool := buildTool(t)
	sample, err := filepath.Abs("../../../testdata/sample")
	if err != nil {
		t.Fatal(err)
	}
	goCache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir(), "GOCACHE="+strings.TrimSpace(string(goCache)))
	for range burning {
		startBurning(t)
	}
	run := func(i int) (map[string]string, error) {
		args := []string{"-C", sample, "--plain", "--json"}
		if i%2 == 0 {
			args = append(args, "--no-cache")
		}
		text, err := runTool(tool, env, args)
		if err != nil {
			return nil, err
		}
		return steady(text)
	}
	want, err := run(0)
	if err != nil {
		t.Fatal(err)
	}
	var next, same atomic.Int64
	var all sync.WaitGroup
	for range atATime {
		all.Go(func() {
			for {
				i := int(next.Add(1))
				if i >= runs {
					return
				}
				got, err := run(i)
				if err != nil {
					t.Errorf("run %d: %v", i+1, err)
				} else if diff := difference(want, got); len(diff) > 0 {
					t.Errorf("run %d: %d values differ from the first run:\n%s", i+1, len(diff), strings.Join(diff[:min(len(diff), 20)], "\n"))
				} else {
					t.Logf("run %d: the same", i+1)
					same.Add(1)
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d runs, %d at a time beside %d burning processes, every second one without kept results: %d of %d like the first; %d values compared",
		runs, atATime, burning, same.Load(), runs-1, len(want))
}

func buildTool(t *testing.T) string {
	t.Helper()
	tool := filepath.Join(t.TempDir(), "allocs")
	cmd := exec.Command("go", "build", "-o", tool, "./cmd/allocs")
	cmd.Dir = filepath.Join("..", "..", "..")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return tool
}

func startBurning(t *testing.T) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), burnEnv+"=1", "GOMAXPROCS=1")
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

func runTool(tool string, env, args []string) ([]byte, error) {
	cmd := exec.Command(tool, args...)
	cmd.Env = env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	// The sample allocates where it must not, so the exit code is 1.
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 1 {
		return nil, fmt.Errorf("%w\n%s", err, errs.Bytes())
	}
	return out.Bytes(), nil
}

// steady flattens a document to path → value. Left out, because they differ by
// their nature: how long a toolchain took (seconds); the count of a run with
// its warm-up (total) and in how many operations (n), as the number of
// iterations goes by the processor time that they take; and the counts and
// bytes for one operation of each site (per_op, bytes, and the same number in
// the words of because), as a slice that grows sometimes does so less often in
// more iterations. The count of each root (allocs) is compared.
func steady(text []byte) (map[string]string, error) {
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	out := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				switch k {
				case "seconds", "total", "n", "per_op", "bytes":
				case "because":
					walk(path+"."+k, counted.ReplaceAllString(fmt.Sprint(x), ": N per operation"))
				default:
					walk(path+"."+k, x)
				}
			}
		case []any:
			out[path+".len"] = strconv.Itoa(len(v))
			for i, x := range v {
				walk(fmt.Sprintf("%s[%d]", path, i), x)
			}
		default:
			out[path] = fmt.Sprint(v)
		}
	}
	walk("", doc)
	return out, nil
}

// counted is a count in the words of a verdict.
var counted = regexp.MustCompile(`: [0-9.]+ per operation`)

// difference lists the differences, in the order of the paths.
func difference(want, got map[string]string) []string {
	var out []string
	for path, w := range want {
		if g, ok := got[path]; !ok {
			out = append(out, fmt.Sprintf("%s: got nothing, want %q", path, w))
		} else if g != w {
			out = append(out, fmt.Sprintf("%s: got %q, want %q", path, g, w))
		}
	}
	for path, g := range got {
		if _, ok := want[path]; !ok {
			out = append(out, fmt.Sprintf("%s: got %q, want nothing", path, g))
		}
	}
	sort.Slice(out, func(i, j int) bool {
		// Failed measurements explain the rest.
		if a, b := strings.Contains(out[i], "trouble"), strings.Contains(out[j], "trouble"); a != b {
			return a
		}
		return out[i] < out[j]
	})
	return out
}
