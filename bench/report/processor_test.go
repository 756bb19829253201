// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"
	"testing"
)

func TestReadProcessor(t *testing.T) {
	const (
		intel = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 173\n" +
			"model name\t: Intel(R)  Xeon(R) Processor\nstepping\t: 1\n\n" +
			"processor\t: 1\nvendor_id\t: Other\ncpu family\t: 7\nmodel\t\t: 8\nstepping\t: 9\n"
		amd = "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\nstepping\t: 1\n"
		arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\n"
	)
	for _, test := range []struct {
		name, cpuinfo string
		want          Processor
	}{
		{"Intel", intel, Processor{"intel-family6-model173", "Intel(R) Xeon(R) Processor",
			"family 6, model 173, stepping 1"}},
		{"AMD", amd, Processor{"amd-family25-model17", "AMD EPYC", "family 25, model 17, stepping 1"}},
		{"ARM", arm, Processor{"arm-part0xd0c", "arm-part0xd0c", "implementer 0x41, part 0xd0c"}},
		{"another vendor", strings.Replace(amd, "AuthenticAMD", "A/../B c", 1),
			Processor{"plan9-mips", "AMD EPYC", ""}},
		{"nothing", "", Processor{"plan9-mips", "plan9-mips", ""}},
	} {
		if got := ReadProcessor(test.cpuinfo, "plan9", "mips"); got != test.want {
			t.Errorf("%s: got %+v\nwant %+v", test.name, got, test.want)
		}
	}
}
