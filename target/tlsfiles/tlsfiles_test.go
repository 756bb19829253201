// SPDX-License-Identifier: Apache-2.0

package tlsfiles_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/target/tlsfiles"
)

func ExampleFiles_Load() {
	current, err := tlsfiles.Files{Name: "logs.example.org"}.Load()
	if err != nil {
		return
	}
	c, err := current() // for each new connection
	fmt.Println(c.ServerName, err)
	none, err := tlsfiles.Files{}.Load()
	fmt.Println(none == nil, err)
	// Output:
	// logs.example.org <nil>
	// true <nil>
}

func TestLoadNamesTheParameter(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	must.Succeed(t, os.WriteFile(empty, nil, 0o600))
	for _, tt := range []struct {
		files tlsfiles.Files
		want  []string
	}{
		{tlsfiles.Files{CA: "/none"}, []string{"tls_ca: open /none"}},
		{tlsfiles.Files{CA: empty, Cert: "x"}, []string{"tls_ca: there is no certificate in " + empty, "tls_cert: tls_cert and tls_key must be set together"}},
		{tlsfiles.Files{Key: "x"}, []string{"tls_cert: tls_cert and tls_key must be set together"}},
		{tlsfiles.Files{Cert: empty, Key: empty}, []string{"tls_cert: tls: failed to find any PEM data"}},
	} {
		_, err := tt.files.Load()
		lines := strings.Split(fmt.Sprint(err), "\n")
		for i, want := range tt.want {
			if len(lines) != len(tt.want) || !strings.HasPrefix(lines[i], want) {
				t.Errorf("%+v: got %v, want %q", tt.files, err, tt.want)
			}
		}
	}
}
