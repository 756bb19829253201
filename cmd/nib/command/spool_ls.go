// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/nib-log/nib/cmd/nib/term"
	"github.com/nib-log/nib/sink/spool"
)

func newSpoolLs() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls DIR…",
		Short: "List spools with their owners, sizes and pending records",
		Long: `Lists spools, one per line. OWNER is whether a process has the spool open, as its
lock shows. RECORDS counts the numbers in its segments, including those whose
calls never returned; verify counts exactly. PENDING counts the records that each
destination has not settled.`,
		Example: `  nib spool ls /var/spool/app
  nib spool ls --json /var/spool | jq 'select(.owner == "none" and .records > 0) | .dir'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			return withSpools(dirs, func(views []*spool.View) error {
				if asJSON {
					return listJSON(cmd.OutOrStdout(), views)
				}
				return list(cmd.OutOrStdout(), views)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object per spool")
	return cmd
}

func list(w io.Writer, views []*spool.View) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SPOOL\tOWNER\tSEGMENTS\tBYTES\tRECORDS\tFIRST\tLAST\tPENDING")
	for _, v := range views {
		fmt.Fprintf(t, "%s\t%v\t%d\t%s\t%s\t%s\t%s\t%s\n", term.Name(v.Dir), v.Owner,
			len(v.Segments), size(v.Bytes),
			term.Count(v.Numbers), moment(v.First), moment(v.Last), pending(v))
	}
	return t.Flush()
}

// pending lists the destinations with their pending records, and counts the
// files that cannot be read.
func pending(v *spool.View) string {
	var parts []string
	for _, d := range v.Destinations {
		parts = append(parts, d.Name+" "+term.Count(d.Pending))
	}
	if len(parts) == 0 {
		parts = []string{term.Count(v.Numbers)}
	}
	if n := len(v.Bad); n > 0 {
		parts = append(parts, fmt.Sprintf("(%d files are not readable as segments)", n))
	}
	if n := len(v.Unread); n > 0 {
		parts = append(parts, fmt.Sprintf("(%d files cannot be read now)", n))
	}
	return strings.Join(parts, ", ")
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// size formats a number of bytes with three digits.
func size(n int64) string {
	const units = "KMGTPE"
	x, unit := float64(n), -1
	for x >= 1000 && unit+1 < len(units) {
		x, unit = x/1024, unit+1
	}
	if unit < 0 {
		return strconv.FormatInt(n, 10) + " B"
	}
	digits := 1
	if x >= 9.95 {
		digits = 0
	}
	return strconv.FormatFloat(x, 'f', digits, 64) + " " + units[unit:unit+1] + "iB"
}

// A listed is a spool in JSON.
type listed struct {
	Dir          string              `json:"dir"`
	Spool        string              `json:"spool,omitempty"`
	Owner        spool.Owner         `json:"owner"`
	Segments     int                 `json:"segments"`
	Bytes        int64               `json:"bytes"`
	Records      uint64              `json:"records"`
	First        *time.Time          `json:"first,omitempty"`
	Last         *time.Time          `json:"last,omitempty"`
	Destinations []listedDestination `json:"destinations"`
	Bad          []string            `json:"bad,omitempty"`
	Unread       []string            `json:"unread,omitempty"`
	Quarantined  []string            `json:"quarantined,omitempty"`
}

type listedDestination struct {
	Name    string `json:"name"`
	Settled uint64 `json:"settled"` // number of the first record that is not
	Pending uint64 `json:"pending"`
}

func listJSON(w io.Writer, views []*spool.View) error {
	for _, v := range views {
		l := listed{
			Dir: v.Dir, Owner: v.Owner, Segments: len(v.Segments), Bytes: v.Bytes,
			Records: v.Numbers, Bad: v.Bad, Unread: v.Unread, Quarantined: v.Quarantined,
			Destinations: []listedDestination{},
		}
		if v.ID != 0 {
			l.Spool = fmt.Sprintf("%016x", v.ID)
		}
		if !v.First.IsZero() {
			first, last := v.First.UTC(), v.Last.UTC()
			l.First, l.Last = &first, &last
		}
		for _, d := range v.Destinations {
			l.Destinations = append(l.Destinations, listedDestination{d.Name, d.Settled, d.Pending})
		}
		if err := writeJSON(w, l); err != nil {
			return err
		}
	}
	return nil
}

// writeJSON writes v on a line.
func writeJSON(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return term.WriteJSON(w, text)
}
