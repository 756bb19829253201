// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/source"
	"github.com/nib-log/nib/allocs/internal/why"
)

// The data of the page. Roots share most of their sites, and the toolchains
// most of their answers, so each of these is kept once and referred to by its
// number: for nib's own events that makes 0.5 MB of 27.
type (
	packed struct {
		Module     string           `json:"module"`
		Summary    findings.Summary `json:"summary"`
		Unknowns   []string         `json:"unknowns,omitempty"` // hints at how to resolve unknown findings
		Toolchains []packedTool     `json:"toolchains"`
		Baseline   bool             `json:"baseline"`
		Changes    []packedChange   `json:"changes"`
		Files      []packedFile     `json:"files"`
		Frames     []packedFrame    `json:"frames"`
		Places     []packedPlace    `json:"places"`
		Answers    [][]packedAnswer `json:"answers"` // one for each toolchain
		Chains     [][]int          `json:"chains"`  // indexes of frames, the root first
		Roots      []packedRoot     `json:"roots"`
	}
	packedTool struct {
		Name    string   `json:"name"`
		Line    string   `json:"line"`
		Runs    int      `json:"runs"`
		Trouble []string `json:"trouble,omitempty"`
	}
	packedChange struct {
		Kind      string `json:"kind"` // missing, worse, new, better, gone
		Toolchain string `json:"toolchain"`
		Root      int    `json:"root"` // -1 if there is none any longer
		Place     int    `json:"place"`
		Name      string `json:"name"`
		Text      string `json:"text"`
		Where     string `json:"where,omitempty"`
	}
	packedFile struct {
		Name  string        `json:"name"`
		Parts []packedLines `json:"parts"`
	}
	packedLines struct {
		First int      `json:"first"`
		Lines []string `json:"lines"`
	}
	packedFrame struct {
		Func    string `json:"func"`
		File    string `json:"file"`
		Line    int    `json:"line"`
		Inlined bool   `json:"inlined,omitempty"`
	}
	packedPlace struct {
		Func    string   `json:"func"`
		File    int      `json:"file"`
		Line    int      `json:"line"`
		Kind    string   `json:"kind"`
		Callee  string   `json:"callee,omitempty"`
		Pattern string   `json:"pattern,omitempty"`
		Reason  string   `json:"reason"`
		Fix     string   `json:"fix,omitempty"`
		Flow    []string `json:"flow,omitempty"`
	}
	packedAnswer struct {
		Verdict  string             `json:"verdict"`
		Because  string             `json:"because,omitempty"`
		Conflict string             `json:"conflict,omitempty"`
		Evidence *findings.Evidence `json:"evidence,omitempty"`
	}
	packedRoot struct {
		ID         string   `json:"id"`
		Title      string   `json:"title"`
		Kind       string   `json:"kind"`
		Func       string   `json:"func"`
		File       int      `json:"file"`
		Line       int      `json:"line"`
		End        int      `json:"end"`
		Allowed    *int     `json:"allowed,omitempty"`
		Status     string   `json:"status"`
		Missing    []string `json:"missing,omitempty"` // the evidence that each site lacks, if any is unknown
		Verdicts   []string `json:"verdicts"`
		Allocs     []int    `json:"allocs"`
		Unfollowed int      `json:"unfollowed,omitempty"`
		Runs       []string `json:"runs,omitempty"`
		Leaf       string   `json:"leaf,omitempty"` // the benchmark or test that counted most
		Sites      [][3]int `json:"sites"`          // place, answers, chain (-1 for none)
	}
)

// packer numbers the values that are stored once.
type packer struct {
	out                            *packed
	d                              *findings.Document
	files                          map[string]int
	wanted                         []map[int]bool // lines of each file
	frames                         map[packedFrame]int
	places, answers, chains, roots map[string]int
	sites                          map[string]int // place by root and key
}

// Lines of source that are shown around a site and a log call, and at most of
// a function.
const (
	around      = 5
	wholeLength = 300
)

func pack(d *findings.Document, o *baseline.Outcome) *packed {
	p := &packer{d: d, files: map[string]int{}, frames: map[packedFrame]int{}, places: map[string]int{}, answers: map[string]int{},
		chains: map[string]int{}, roots: map[string]int{}, sites: map[string]int{}}
	p.out = &packed{Module: d.Module, Summary: d.Summary, Unknowns: unknowns(d), Baseline: o != nil && o.Baseline, Changes: []packedChange{}, Roots: []packedRoot{}}
	for _, tc := range d.Toolchains {
		p.out.Toolchains = append(p.out.Toolchains, packedTool{tc.Name, tc.Line, tc.Runs, tc.Trouble})
	}
	for i, r := range d.Roots {
		p.roots[r.ID] = i
		p.out.Roots = append(p.out.Roots, p.root(r))
	}
	if p.out.Baseline {
		p.changes(o)
	}
	p.source()
	return p.out
}

func (p *packer) root(r *findings.Root) packedRoot {
	x := packedRoot{ID: r.ID, Title: title(p.d, r), Kind: r.Kind, Func: why.ShortName(r.Func), File: p.file(r.File), Line: r.Line, End: r.End,
		Allowed: r.Allowed, Status: string(r.Status), Leaf: worstLeaf(r), Verdicts: r.Verdicts, Allocs: r.Allocs, Runs: r.Runs, Sites: [][3]int{}}
	for _, n := range r.Unfollowed {
		x.Unfollowed = max(x.Unfollowed, n)
	}
	first, last := r.Line, min(r.End, r.Line+wholeLength)
	if r.Kind == "log call" {
		first, last = first-around, max(last, r.Line)+around
	}
	p.want(x.File, first, last)
	for _, s := range r.Sites {
		site := [3]int{p.place(s), p.answer(s), p.chain(s)}
		p.sites[r.ID+"\x00"+s.Key] = site[0]
		x.Sites = append(x.Sites, site)
		x.Missing = append(x.Missing, string(s.Missing))
	}
	if !slices.ContainsFunc(x.Missing, func(m string) bool { return m != "" }) {
		x.Missing = nil
	}
	return x
}

// number returns the number of a value, by its JSON, and whether it is new.
func number(seen map[string]int, value any) (n int, isNew bool) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // these types contain nothing that cannot be encoded
	}
	n, ok := seen[string(text)]
	if !ok {
		n = len(seen)
		seen[string(text)] = n
	}
	return n, !ok
}

func (p *packer) file(name string) int {
	n, ok := p.files[name]
	if !ok {
		n = len(p.files)
		p.files[name] = n
		p.out.Files = append(p.out.Files, packedFile{Name: name, Parts: []packedLines{}})
		p.wanted = append(p.wanted, map[int]bool{})
	}
	return n
}

func (p *packer) want(file, first, last int) {
	for n := max(first, 1); n <= last; n++ {
		p.wanted[file][n] = true
	}
}

func (p *packer) place(s *findings.Site) int {
	x := packedPlace{s.Func, p.file(s.File), s.Line, s.Kind, s.Callee, s.Pattern, s.Reason, s.Fix, s.Flow}
	n, isNew := number(p.places, x)
	if isNew {
		p.out.Places = append(p.out.Places, x)
		p.want(x.File, s.Line-around, s.Line+around)
	}
	return n
}

func (p *packer) answer(s *findings.Site) int {
	var all []packedAnswer
	for _, a := range s.Answers {
		all = append(all, packedAnswer{string(a.Verdict), a.Because, a.Conflict, a.Evidence})
	}
	n, isNew := number(p.answers, all)
	if isNew {
		p.out.Answers = append(p.out.Answers, all)
	}
	return n
}

// chain returns the chain of the worst answer: the others hardly differ.
func (p *packer) chain(s *findings.Site) int {
	for _, a := range s.Answers {
		if a.Verdict != s.Worst() || len(a.Chain) == 0 {
			continue
		}
		var ids []int
		for _, f := range a.Chain {
			ids = append(ids, p.frame(f))
		}
		n, isNew := number(p.chains, ids)
		if isNew {
			p.out.Chains = append(p.out.Chains, ids)
		}
		return n
	}
	return -1
}

func (p *packer) frame(f findings.Frame) int {
	x := packedFrame{Func: why.ShortName(f.Func), File: f.File, Line: f.Line, Inlined: f.Inlined}
	if filepath.IsAbs(f.File) {
		x.File = filepath.Base(f.File) // a file of the standard library or a dependency
	}
	n, ok := p.frames[x]
	if !ok {
		n = len(p.frames)
		p.frames[x] = n
		p.out.Frames = append(p.out.Frames, x)
	}
	return n
}

func (p *packer) changes(o *baseline.Outcome) {
	for _, list := range []struct {
		fallback string
		changes  []baseline.Change
	}{{"missing", o.Missing}, {"worse", o.Worse}, {"better", o.Better}} {
		for _, c := range list.changes {
			x := packedChange{Kind: c.Kind, Toolchain: c.Toolchain, Root: -1, Place: -1, Name: shorten(p.d, c.Root), Text: c.Text, Where: c.Where}
			if x.Kind == "" {
				x.Kind = list.fallback
			}
			if n, ok := p.roots[c.Root]; ok {
				x.Root = n
			}
			if n, ok := p.sites[c.Root+"\x00"+c.Site]; ok {
				x.Place = n
			}
			p.out.Changes = append(p.out.Changes, x)
		}
	}
}

// source adds the requested lines.
func (p *packer) source() {
	files := source.New()
	for i := range p.out.Files {
		f := &p.out.Files[i]
		path := filepath.Join(p.d.Dir, filepath.FromSlash(f.Name))
		if filepath.IsAbs(f.Name) {
			path = f.Name
		}
		lines := make([]int, 0, len(p.wanted[i]))
		for n := range p.wanted[i] {
			lines = append(lines, n)
		}
		sort.Ints(lines)
		for from := 0; from < len(lines); {
			to := from + 1
			for to < len(lines) && lines[to] == lines[to-1]+1 {
				to++
			}
			if text := files.Lines(path, lines[from], lines[to-1]); len(text) > 0 {
				f.Parts = append(f.Parts, packedLines{lines[from], slices.Clone(text)})
			}
			from = to
		}
	}
}

// title returns the name of a root in a context where its module is known.
func title(d *findings.Document, r *findings.Root) string {
	if r.Text != "" {
		return r.Text
	}
	return shorten(d, r.ID)
}

// shorten removes the module's path from the name of a function.
func shorten(d *findings.Document, id string) string {
	return strings.TrimLeft(strings.TrimPrefix(id, d.Module), "./")
}
