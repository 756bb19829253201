// SPDX-License-Identifier: Apache-2.0

package regexponce

import (
	"fmt"
	"regexp"
)

var other = regexp.MustCompile(`b+`)

// Match looks for two forms.
func Match(s string) bool {
	re := regexp.MustCompile(`^a+$`)                                                           // want "compile it once"
	return re.MatchString(s) || regexp.MustCompile(`c`).MatchString(s) || other.MatchString(s) // want "compile it once"
}

func longest(s string) string {
	re := regexp.MustCompile(`a+?`)
	re.Longest()
	return re.FindString(s)
}

func returned() *regexp.Regexp { return regexp.MustCompile(`d`) }

func variable(p string) bool { return regexp.MustCompile(p).MatchString("x") }

func broken(s string) bool { return s != "" && regexp.MustCompile(`(`).MatchString(s) }

func named(s string) bool {
	const pattern = `e+`
	return regexp.MustCompile(pattern).MatchString(s)
}

func Try() string {
	return fmt.Sprint(Match("aa"), Match("xc"), Match("x"), longest("aaa"), returned(), variable("x"), broken(""), named("e"))
}
