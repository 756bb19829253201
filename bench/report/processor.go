// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
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
// text lacks the fields that it looks for, or the vendor is unknown, it returns
// a Processor of the architecture.
func ReadProcessor(cpuinfo, goos, goarch string) Processor {
	info := map[string]string{}
	for line := range strings.Lines(cpuinfo) {
		key, value, _ := strings.Cut(line, ":")
		if key = strings.TrimSpace(key); info[key] == "" {
			info[key] = strings.Join(strings.Fields(value), " ")
		}
	}
	p := Processor{Key: goos + "-" + goarch, Name: info["model name"]}
	family, model, part := info["cpu family"], info["model"], info["CPU part"]
	if vendor := vendors[info["vendor_id"]]; vendor != "" && family != "" {
		p.Key = fmt.Sprintf("%s-family%s-model%s", vendor, family, model)
		p.Model = fmt.Sprintf("family %s, model %s, stepping %s", family, model, info["stepping"])
	} else if vendor := vendors[info["CPU implementer"]]; vendor != "" && part != "" {
		p.Key = vendor + "-part" + part
		p.Model = "implementer " + info["CPU implementer"] + ", part " + part
	}
	p.Name = cmp.Or(p.Name, p.Key)
	return p
}
