// SPDX-License-Identifier: Apache-2.0

package journald

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	defaultSocket = "/run/systemd/journal/socket"
	defaultStall  = 100 * time.Millisecond
	maxPrefix     = 32
)

// A Config configures a Sink. The zero value is ready to use.
type Config struct {
	// Identifier is the SYSLOG_IDENTIFIER of all entries, which journalctl
	// shows and -t selects. Defaults to the name of the program.
	Identifier string

	// Prefix is prepended to the names of the line's own fields, such as
	// "SHOP_". Defaults to none.
	Prefix string

	// Line is the name of a field with the whole line as JSON, such as "JSON".
	// Defaults to "", which adds no such field.
	Line string

	// Stall is the maximum time that a call waits while journald does not read
	// or is not running. Defaults to 100 ms.
	Stall time.Duration

	// Socket is the path of journald's socket. Defaults to
	// /run/systemd/journal/socket.
	Socket string
}

// Validate returns every error in c, joined, or nil.
func (c Config) Validate() error {
	var faults []error
	fault := func(wrong bool, format string, value any) {
		if wrong {
			faults = append(faults, fmt.Errorf("nib/journald: "+format, value))
		}
	}
	fault(strings.ContainsAny(c.Identifier, "\n\x00"), "Identifier %q has a line break or NUL",
		c.Identifier)
	fault(c.Prefix != "" && !isName([]byte(c.Prefix)),
		"Prefix %q is not the beginning of a field name (A to Z, 0 to 9 and _, a letter first)",
		c.Prefix)
	fault(len(c.Prefix) > maxPrefix, "Prefix %q is longer than 32 bytes", c.Prefix)
	fault(c.Line != "" && !isName([]byte(c.Line)),
		"Line %q is not a field name (A to Z, 0 to 9 and _, a letter first, at most 64)", c.Line)
	fault(isReserved([]byte(c.Line)) || strings.HasPrefix(c.Line, fieldPrefix),
		"Line %q may be the name of another field", c.Line)
	fault(c.Stall < 0, "Stall is negative: %v", c.Stall)
	fault(len(c.Socket) > maxSocketPath, "Socket %q is longer than a socket address can be",
		c.Socket)
	return errors.Join(faults...)
}

// maxSocketPath is the maximum length of a path in a sockaddr_un of Linux,
// without the NUL at its end.
const maxSocketPath = 107

// withDefaults sets the fields that are zero to their defaults.
func (c Config) withDefaults() Config {
	if c.Identifier == "" {
		c.Identifier = "nib"
		if len(os.Args) > 0 {
			// without the characters that Validate rejects
			oneLine := strings.NewReplacer("\n", "_", "\x00", "_")
			c.Identifier = oneLine.Replace(filepath.Base(os.Args[0]))
		}
	}
	if c.Stall == 0 {
		c.Stall = defaultStall
	}
	if c.Socket == "" {
		c.Socket = defaultSocket
	}
	return c
}
