// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Which messages are new in a range of time is shown beside it, and a click
// selects their lines.
func TestE2ERangeIsCompared(t *testing.T) {
	needBrowser(t)
	address := serve(t, write(t, shop(20_000)))
	const (
		texts = "[...document.querySelectorAll('.compare h2, .compare .what')]"
		shown = texts + ".map(e => e.textContent)"
		rates = "document.querySelector('.compare .n').textContent"
		level = "[...document.querySelectorAll('.row .level')].map(e => e.textContent)"
	)
	during := fmt.Sprintf("?from=%d&to=%d", begin.Add(100*time.Minute).UnixMilli(),
		begin.Add(125*time.Minute).UnixMilli())
	for _, dark := range []bool{false, true} {
		for _, width := range []int{1400, 420} {
			x := open(t, address+during, width, 860, dark)
			becomes(x, "document.querySelectorAll('.chip').length", 2)
			x.run(click(".chip[aria-pressed]"))
			becomes(x, shown+".join()", "New,payment failed")
			becomes(x, "/^0 → \\d[.\\d]*$/.test("+rates+")", true)
			becomes(x, "document.querySelectorAll('.row .message').length > 5", true)
			x.fits()
			scheme := map[bool]string{false: "light", true: "dark"}[dark]
			x.picture(fmt.Sprintf("%d-%s-compare", width, scheme))

			x.run(click(".compare .value"))
			becomes(x, "document.querySelector('#q').value", `message ~ "^payment failed"`)
			becomes(x, level+".every(e => e === 'ERR')", true)
			x.key("d")
			becomes(x, "document.querySelector('.compare') === null", true)
			x.key("d")
			becomes(x, shown+".join()", "New,payment failed")
			x.key("\x1b") // leaves the range
			becomes(x, "document.querySelector('.compare, .chip') === null", true)
			x.clean(address)
		}
	}
}

// click clicks an element, wherever the page moves it.
func click(selector string) chromedp.Action[chromedp.Void] {
	script := fmt.Sprintf("document.querySelector(%q).click()", selector)
	return chromedp.Evaluate[chromedp.Void](script)
}
