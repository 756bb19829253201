// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// begin is when the first line was logged.
var begin = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

const trace = `panic: runtime error: invalid memory address or nil pointer dereference\n\ngoroutine 41 [running]:\nshop/pay.(*Client).Charge(0x0, {0x1400, 0x20})\n\t/src/pay/client.go:88 +0x24\nshop/orders.(*API).place(0x14000116000)\n\t/src/orders/place.go:142 +0x1c8`

// shop returns the log of a shop with a payment service that fails for a while.
func shop(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	at := begin
	for range n {
		at = at.Add(time.Duration(r.ExpFloat64() * float64(3*time.Hour) / float64(n)))
		path := []string{"/api/orders", "/api/orders", "/api/cart", "/api/cart", "/api/products", "/api/products", "/api/pay", "/healthz"}[r.IntN(8)]
		tenant := []string{"acme", "acme", "acme", "globex", "globex", "initech"}[r.IntN(6)]
		level, message, status, took, more := "info", "request served", 200, 4+r.ExpFloat64()*20, ""
		since := at.Sub(begin)
		failing := since > 100*time.Minute && since < 125*time.Minute && path == "/api/pay"
		switch {
		case failing && r.IntN(3) > 0:
			level, message, status, took = "error", "payment failed", 502, 2000+r.Float64()*50
			more = `,"error":"post https://pay.example/charge: context deadline exceeded","stack":"` + trace + `"`
		case r.IntN(25) == 0:
			level, message, took, more = "warn", "slow query", 250+r.ExpFloat64()*200, `,"query":"SELECT * FROM orders WHERE tenant = $1 ORDER BY created_at DESC LIMIT 50","rows":50`
		case r.IntN(120) == 0:
			level, message, status, more = "error", "write response", 499, `,"error":"write tcp 10.0.3.7:8080: broken pipe"`
		case r.IntN(5) == 0:
			level, message, more = "debug", "cache miss", fmt.Sprintf(`,"user":{"id":%d,"plan":"team"}`, r.IntN(900))
		case r.IntN(9) == 0:
			status, message = 404, "not found"
		}
		fmt.Fprintf(&b, `{"time":%q,"level":%q,"message":%q,"method":%q,"path":%q,"status":%d,"took":"%.1fms","tenant":%q,"request_id":"%016x"%s}`+"\n",
			at.Format("2006-01-02T15:04:05.000Z"), level, message, []string{"GET", "POST"}[r.IntN(2)], path, status, took, tenant, r.Uint64(), more)
	}
	return b.String()
}

func write(t *testing.T, text string) (name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "shop.log")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// The pictures in docs.
func TestE2EPictures(t *testing.T) {
	needBrowser(t)
	address := serve(t, write(t, shop(60_000)))
	for _, dark := range []bool{false, true} {
		for _, width := range []int{1400, 420} {
			name := fmt.Sprintf("%d-%s", width, map[bool]string{false: "light", true: "dark"}[dark])
			x := open(t, address, width, 860, dark)
			x.lines(60_000)
			becomes(x, "document.querySelectorAll('.row .message').length > 10", true)
			x.fits()
			x.picture(name)
			x.query("level >= error and status = 502", 686)
			x.key("n")
			becomes(x, "document.querySelector('.row.selected') !== null", true)
			x.key("\r")
			x.run(chromedp.WaitVisible(".detail .message"))
			x.fits()
			x.picture(name + "-detail")
			x.clean(address)
		}
	}
}
