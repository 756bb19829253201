// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Processor identifies the model of a processor by the numbers that it
// reports. Its name does not: several generations are called "AMD EPYC".
type Processor struct {
	Key  string // names the directory of its results: intel-family6-model167
	Name string // "Intel(R) Xeon(R) Processor"
	// Model has the numbers that CPUID reports and the name that its maker uses
	// for them, if it is in the table of this package. Empty without such
	// numbers.
	Model string
}

// microarchitectures has the names of models of servers, and of others that
// stored results may come from. The first entry whose flag is among those of
// the processor counts: a hypervisor may report the number of another model.
var microarchitectures = []struct{ key, flag, name string }{
	{"amd-family23-model1", "", "Naples, Zen"},
	{"amd-family23-model49", "", "Rome, Zen 2"},
	{"amd-family25-model1", "", "Milan, Zen 3"},
	{"amd-family25-model17", "", "Genoa, Zen 4"},
	{"amd-family25-model160", "", "Bergamo, Zen 4c"},
	{"amd-family26-model2", "", "Turin, Zen 5"},
	{"intel-family6-model85", "", "Skylake to Cooper Lake servers"},
	{"intel-family6-model106", "", "Ice Lake server"},
	{"intel-family6-model143", "", "Sapphire Rapids"},
	{"intel-family6-model167", "amx_tile", "the number of Rocket Lake, but with AMX: Sapphire Rapids or later"},
	{"intel-family6-model167", "", "Rocket Lake"},
	{"intel-family6-model173", "", "Granite Rapids"},
	{"intel-family6-model207", "", "Emerald Rapids"},
	{"arm-part0xd0c", "", "Neoverse N1"},
	{"arm-part0xd40", "", "Neoverse V1"},
	{"arm-part0xd49", "", "Neoverse N2"},
	{"arm-part0xd4f", "", "Neoverse V2"},
}

// vendors maps the names of the vendors in /proc/cpuinfo to prefixes of keys.
var vendors = map[string]string{"GenuineIntel": "intel", "AuthenticAMD": "amd", "0x41": "arm"}

// ReadProcessor reads the text of /proc/cpuinfo, of which it needs the first
// processor only. If the text lacks the fields that it looks for, it returns a
// Processor of the architecture.
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
	flags := strings.Fields(info["flags"])
	for _, m := range microarchitectures {
		if m.key == p.Key && (m.flag == "" || slices.Contains(flags, m.flag)) {
			p.Model += " (" + m.name + ")"
			break
		}
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
