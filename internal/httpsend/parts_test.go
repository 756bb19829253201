// SPDX-License-Identifier: Apache-2.0

package httpsend

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A header that net/http refuses would make every request fail, with an error
// that quotes a part of it.
func TestInvalidHeaders(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"Authorization", "Bearer geheim\n", "control character in the value of Authorization"},
		{"Authorization: Bearer geheim", "=", "name with characters that are not allowed"},
		{"X-Tenant", "größe\t1", ""},
	} {
		err := Config{URL: "http://a", Header: http.Header{tt.name: {tt.value}}}.Validate()
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) || err != nil && strings.Contains(err.Error(), "geheim") {
			t.Errorf("%q: got %v, want %q", tt.name, err, tt.want)
		}
		file := filepath.Join(t.TempDir(), "headers")
		if err := os.WriteFile(file, []byte("A: b\r\n"+tt.name+"\x01: "+tt.value), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadHeaders(file); err == nil || !strings.Contains(err.Error(), "line 2 of ") || strings.Contains(err.Error(), "geheim") {
			t.Errorf("got %v, want an error in line 2", err)
		}
	}
}
