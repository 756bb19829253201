// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// A Processor identifies the model of a processor by the numbers that it
// reports. Its name does not: several generations are called "AMD EPYC".
type Processor struct {
	Key   string // names the directory of its results: intel-family6-model167
	Name  string // "Intel(R) Xeon(R) Processor"
	Model string // the numbers that CPUID reports, if any
}

// vendors maps the names of the vendors in /proc/cpuinfo to prefixes of keys.
var vendors = map[string]string{"GenuineIntel": "intel", "AuthenticAMD": "amd", "0x41": "arm"}

// ReadProcessor reads the first processor in the text of /proc/cpuinfo. If the
// text lacks the fields that it looks for, it returns a Processor of the
// architecture.
func ReadProcessor(cpuinfo io.Reader, goos, goarch string) Processor {
	info := map[string]string{}
	for s := bufio.NewScanner(cpuinfo); s.Scan(); {
		key, value, ok := strings.Cut(s.Text(), ":")
		if key = strings.TrimSpace(key); ok && info[key] == "" {
			info[key] = strings.Join(strings.Fields(value), " ")
		}
	}
	p := Processor{Key: goos + "-" + goarch, Name: info["model name"]}
	if vendor, family := info["vendor_id"], info["cpu family"]; vendor != "" && family != "" {
		p.Key = fmt.Sprintf("%s-family%s-model%s", known(vendor), family, info["model"])
		p.Model = fmt.Sprintf("family %s, model %s, stepping %s", family, info["model"], info["stepping"])
	} else if implementer, part := info["CPU implementer"], info["CPU part"]; implementer != "" && part != "" {
		p.Key = known(implementer) + "-part" + part
		p.Model = "implementer " + implementer + ", part " + part
	}
	if p.Name == "" {
		p.Name = p.Key
	}
	return p
}

func known(vendor string) string {
	if name, ok := vendors[vendor]; ok {
		return name
	}
	return "vendor-" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(vendor))
}
