// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"regexp"
	"strings"
)

// secret finds passwords in a target or a list of them; errors do not quote
// them. The slashes before a user may be missing.
var secret = regexp.MustCompile(`(?i)://[^/?]*@|^[^:/?]+:[^/\\?,@]+:[^/\\?,@]*@|` +
	`[?&](pass|passwd|password|secret|token|access_token|api[_-]?key|auth|authorization)=`)

// HasSecret reports whether a target or a list of them has a password.
func HasSecret(text string) bool { return secret.MatchString(text) || hasCutPassword(text) }

// hasCutPassword reports whether a target has an @ after hosts with an invalid
// port: a password with a / or ? that is not escaped, which ends the hosts.
func hasCutPassword(text string) bool {
	for {
		_, after, ok := strings.Cut(text, "://")
		if !ok {
			return false
		}
		text = after
		end := strings.IndexAny(text, "/?")
		if end < 0 || !strings.Contains(text[end:], "@") && !strings.Contains(text[end:], "%40") {
			continue
		}
		for host := range strings.SplitSeq(text[:end], ",") {
			if i := strings.LastIndexByte(host, ':'); i >= 0 && !isPort(host[i+1:]) &&
				!strings.HasSuffix(host, "]") {
				return true
			}
		}
	}
}

func isPort(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// ErrSecret is the error for a target with a password.
var ErrSecret = errors.New(
	"a user or password does not belong in a target, which is shown in errors and process lists: " +
		"write user=NAME where the kind has it, and password_file=PATH or the variable of the kind")

// hostPort matches a host with a port, which neither a path nor the beginning
// of another target matches.
var hostPort = regexp.MustCompile(`^[^,/?]+:[0-9]+(,|/|\?|$)`)

// SplitTargets splits a list of targets at its commas. A comma between two
// hosts is part of a target. The error does not quote the list.
func SplitTargets(list string) (texts []string, err error) {
	if HasSecret(list) {
		return nil, ErrSecret
	}
	begin := 0
	for i := range len(list) {
		if list[i] == ',' && !(inHosts(list[begin:i]) && hostPort.MatchString(list[i+1:])) {
			texts = append(texts, list[begin:i])
			begin = i + 1
		}
	}
	return append(texts, list[begin:]), nil
}

// inHosts reports whether the end of text is in the hosts of a target.
func inHosts(text string) bool {
	_, hosts, ok := strings.Cut(text, "://")
	return ok && !strings.ContainsAny(hosts, "/?")
}
