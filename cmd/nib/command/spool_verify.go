// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nib-log/nib/cmd/nib/term"
	"github.com/nib-log/nib/sink/spool"
)

func newSpoolVerify() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify DIR…",
		Short: "Read all records of spools and count what is missing",
		Long: `Reads every record and checks its checksum and its number.

  GOOD        intact records
  UNFINISHED  numbers whose calls never returned, or have not yet; no loss
  DAMAGED     numbers whose bytes have changed since they were written
  MISSING     numbers whose segment is gone or cannot be read
  BAD FILES   files that are not readable as segments

Damage at the end of the last segment counts as one record, since the number of
records after it is unknown.

Exit codes: 0 all spools are intact, 1 something is damaged, missing or bad, or
could not be read.`,
		Example: `  nib spool verify /var/spool/app
  nib spool verify --json /var/spool | jq .damaged`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			return withSpools(dirs, func(views []*spool.View) error {
				return verify(cmd.OutOrStdout(), views, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object per spool")
	return cmd
}

// A verdict is the result for a spool.
type verdict struct {
	Dir        string      `json:"dir"`
	Owner      spool.Owner `json:"owner"`
	Good       uint64      `json:"good"`
	Bytes      uint64      `json:"bytes"` // bytes of their lines
	Unfinished uint64      `json:"unfinished"`
	Damaged    uint64      `json:"damaged"`
	Missing    uint64      `json:"missing"`
	Removed    uint64      `json:"removed"` // records that the owner removed during the call
	Bad        []string    `json:"bad_files"`
	Unread     []string    `json:"unread_files,omitempty"`
	Places     []place     `json:"places"` // the first damaged or missing places
	OK         bool        `json:"ok"`
}

// A place is where something is damaged or missing.
type place struct {
	First   uint64 `json:"first"` // number
	Numbers uint64 `json:"numbers"`
	Kind    string `json:"kind"`
	Error   string `json:"error,omitempty"`
}

const maxPlaces = 20

func verify(w io.Writer, views []*spool.View, asJSON bool) error {
	verdicts, faulty := make([]verdict, 0, len(views)), 0
	for _, v := range views {
		verdicts = append(verdicts, verifyOne(v))
		if !verdicts[len(verdicts)-1].OK {
			faulty++
		}
	}
	if err := writeVerdicts(w, verdicts, asJSON); err != nil {
		return err
	}
	if faulty > 0 {
		return fmt.Errorf("%d of %d spools are not sound", faulty, len(views))
	}
	return nil
}

func verifyOne(v *spool.View) verdict {
	d := verdict{Dir: v.Dir, Owner: v.Owner, Bad: append([]string{}, v.Bad...), Unread: v.Unread,
		Places: []place{}}
	for r, g := range v.Records(0) {
		switch g.Kind {
		case "":
			d.Good++
			d.Bytes += uint64(len(r.Line))
			continue
		case spool.GapUnfinished:
			d.Unfinished += g.Numbers
			continue
		case spool.GapRemoved:
			d.Removed += g.Numbers
			continue
		case spool.GapDamaged:
			d.Damaged += max(g.Numbers, 1)
		default:
			d.Missing += max(g.Numbers, 1)
		}
		if len(d.Places) < maxPlaces {
			p := place{First: g.First, Numbers: g.Numbers, Kind: string(g.Kind)}
			if g.Err != nil {
				p.Error = g.Err.Error()
			}
			d.Places = append(d.Places, p)
		}
	}
	if p := before(v); p.Numbers > 0 {
		d.Missing += p.Numbers
		d.Places = append([]place{p}, d.Places...)
	}
	d.OK = d.Damaged == 0 && d.Missing == 0 && len(d.Bad)+len(d.Unread) == 0
	return d
}

// before returns the records that no destination has settled and that are in no
// segment, because the first segments were removed.
func before(v *spool.View) place {
	var settled uint64
	for _, d := range v.Destinations {
		settled = max(settled, d.Settled)
	}
	p := place{First: settled, Kind: string(spool.GapAbsent)}
	if len(v.Segments) > 0 && settled > 0 {
		first := v.Segments[0].First - v.Segments[0].Skipped
		p.Numbers = first - min(settled, first)
	}
	return p
}

func writeVerdicts(w io.Writer, verdicts []verdict, asJSON bool) error {
	if asJSON {
		for i := range verdicts {
			if err := writeJSON(w, &verdicts[i]); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SPOOL\tOWNER\tGOOD\tUNFINISHED\tDAMAGED\tMISSING\tBAD FILES\tVERDICT")
	for _, d := range verdicts {
		word := "ok"
		if !d.OK {
			word = "damaged"
		}
		fmt.Fprintf(t, "%s\t%v\t%s\t%s\t%s\t%s\t%d\t%s\n", term.Name(d.Dir), d.Owner,
			term.Count(d.Good), term.Count(d.Unfinished),
			term.Count(d.Damaged), term.Count(d.Missing), len(d.Bad), word)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, d := range verdicts {
		dir := term.Name(d.Dir)
		for _, p := range d.Places {
			fmt.Fprintf(w, "%s: %s\n", dir, term.Line(p.String()))
		}
		for _, name := range d.Bad {
			fmt.Fprintf(w, "%s: %s is not a segment\n", dir, term.Name(name))
		}
		for _, name := range d.Unread {
			fmt.Fprintf(w, "%s: %s cannot be read now, or has a later format version\n", dir,
				term.Name(name))
		}
	}
	return nil
}

func (p place) String() string {
	switch {
	case p.Error != "":
		return fmt.Sprintf("%d numbers from %d are %s: %s", p.Numbers, p.First, p.Kind, p.Error)
	case p.Numbers == 0:
		return fmt.Sprintf("what was from number %d on is %s", p.First, p.Kind)
	case p.Numbers == 1:
		return fmt.Sprintf("number %d is %s", p.First, p.Kind)
	}
	return fmt.Sprintf("numbers %d to %d are %s", p.First, p.First+p.Numbers-1, p.Kind)
}
