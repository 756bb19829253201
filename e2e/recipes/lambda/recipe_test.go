// SPDX-License-Identifier: Apache-2.0

package lambda

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/e2e/recipes/orders"
)

func TestMain(m *testing.M) {
	if os.Getenv("AWS_LAMBDA_RUNTIME_API") != "" {
		Main()
		return
	}
	os.Exit(m.Run())
}

// invoke runs the function as Lambda does, with its runtime API, and returns
// standard output.
func invoke(t *testing.T, environ []string, payloads ...string) []string {
	t.Helper()
	n := 0
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", func(w http.ResponseWriter, _ *http.Request) {
		if n == len(payloads) {
			w.WriteHeader(http.StatusGone) // ends the process
			return
		}
		n++
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", fmt.Sprintf("id-%d", n))
		w.Header().Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(time.Now().Add(time.Minute).UnixMilli()))
		_, _ = io.WriteString(w, payloads[n-1])
	})
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
	})
	api := httptest.NewServer(mux)
	defer api.Close()
	c := exec.Command(os.Args[0])
	c.Env = append(append(os.Environ(), environ...), "AWS_LAMBDA_FUNCTION_NAME=thumbnails",
		"AWS_LAMBDA_RUNTIME_API="+strings.TrimPrefix(api.URL, "http://"))
	out, err := c.Output()
	if err == nil || n != len(payloads) {
		t.Fatalf("got %v after %d invocations, want the process to end after %d", err, n, len(payloads))
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

func TestInvocations(t *testing.T) {
	lines := invoke(t, []string{"AWS_LAMBDA_LOG_FORMAT=JSON", "AWS_LAMBDA_LOG_LEVEL=DEBUG"}, `{"Name":"tea.png"}`, `{}`)
	if len(lines) != 4 {
		t.Fatalf("got %q, want 4 lines", lines)
	}
	for i, want := range []map[string]any{
		{"level": "DEBUG", "message": "resizing", "request_id": "id-1"},
		{"level": "INFO", "message": "job", "job": "thumbnails", "picture": "tea.png", "request_id": "id-1"},
		{"level": "DEBUG", "message": "resizing", "request_id": "id-2"},
		{"level": "ERROR", "message": "job", "error": "no picture", "request_id": "id-2"},
	} {
		var line map[string]any
		if err := json.Unmarshal([]byte(lines[i]), &line); err != nil {
			t.Fatalf("%v in %s", err, lines[i])
		}
		orders.Check(t, line, want)
		if at, _ := line["timestamp"].(string); !strings.HasSuffix(at, "Z") {
			t.Errorf("got timestamp %q, want one in UTC", at)
		}
	}
}

func TestTextOfErrorsOnly(t *testing.T) {
	lines := invoke(t, []string{"AWS_LAMBDA_LOG_FORMAT=Text", "AWS_LAMBDA_LOG_LEVEL=ERROR"}, `{"Name":"tea.png"}`, `{}`)
	if len(lines) != 1 || !strings.Contains(lines[0], ` level=error job=thumbnails `) || !strings.Contains(lines[0], ` request_id=id-2 error="no picture"`) {
		t.Errorf("got %q, want the line of the second invocation as logfmt", lines)
	}
}
