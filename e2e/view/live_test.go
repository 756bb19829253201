// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// pace writes lines to a file, rate per second, until done is closed. It
// returns their number.
func pace(t *testing.T, file string, rate int, done <-chan struct{}) (n int) {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer f.Close()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	begin := time.Now()
	for {
		select {
		case <-done:
			return n
		case <-tick.C:
		}
		var b strings.Builder
		now := time.Now()
		for want := int(now.Sub(begin).Seconds() * float64(rate)); n < want; n++ {
			level := "info"
			if n%50 == 0 {
				level = "error"
			}
			fmt.Fprintf(&b, `{"time":%q,"level":%q,"message":"request served","method":"GET","path":"/api/orders/%d","status":200,"took":"12.5ms","tenant":"t-%d","n":%d}`+"\n", now.UTC().Format(time.RFC3339Nano), level, n%7, n%40, n)
		}
		if _, err := f.WriteString(b.String()); err != nil {
			t.Error(err)
			return n
		}
	}
}

// frames counts the time between frames in the page.
const frames = `(() => {
  window.longest = 0; window.frames_ = 0; let last = performance.now();
  const step = () => { const now = performance.now(); longest = Math.max(longest, now - last); last = now; frames_++; requestAnimationFrame(step); };
  requestAnimationFrame(step);
})()`

// unseen is the number of new lines that the page shows while it is paused, 0
// while it is not.
const unseen = `(m => m ? Number(m[1]) * (m[2] ? 1000 : 1) : 0)(/^([1-9][\d.]*)(k?) new$/.exec(document.querySelector('.live').textContent.trim()))`

func TestE2ELiveTail(t *testing.T) {
	needBrowser(t)
	rate, seconds := 5_000, 3*time.Second
	if os.Getenv("NIB_E2E") == "full" {
		rate, seconds = 50_000, 20*time.Second
	}
	file := write(t, shop(1000))
	address := serve(t, file)
	x := open(t, address, 1400, 860, false)
	x.lines(1000)
	done, written := make(chan struct{}), make(chan int, 1)
	go func() { written <- pace(t, file, rate, done) }()
	becomes(x, "Number(document.querySelector('.summary b').textContent.replaceAll(',', '')) > 2000", true)
	x.run(chromedp.Evaluate[chromedp.Void](frames))
	<-time.After(seconds)
	longest, count := eval[float64](x, "longest"), eval[float64](x, "frames_")
	t.Logf("%d lines a second for %v: %.0f frames, the longest took %.0f ms, at most 100 if quiet",
		rate, seconds, count, longest)
	x.picture("live")

	// When paused, the list does not move and counts new lines.
	x.key(" ")
	becomes(x, unseen+" > 0", true)
	top, before := eval[string](x, "document.querySelector('.row').dataset.row"), eval[float64](x, unseen)
	becomes(x, fmt.Sprintf("%s > %v", unseen, before), true)
	becomes(x, "document.querySelector('.row').dataset.row", top)
	close(done)
	n := 1000 + <-written
	x.lines(n)
	x.key(" ")
	becomes(x, "document.querySelector('.live').textContent.trim()", "Live")
	becomes(x, fmt.Sprintf("[...document.querySelectorAll('.row .text')].at(-1).textContent.endsWith('n=%d')", n-1001), true)
	x.clean(address)
}
