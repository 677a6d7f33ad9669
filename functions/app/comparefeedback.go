package app

import (
	"context"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/fault"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/feedback"
)

// dealtWith are threads of an artifact that revisions have dealt with.
type dealtWith struct {
	threads []feedback.Thread
	more    bool // older threads were not read
}

// newestChanges is how many changes of threads a comparison looks at where an artifact has more than a page of threads.
const newestChanges = 50

// maxDealtWords is how many characters of the first message of a thread a comparison shows.
const maxDealtWords = 160

// dealtWith reads the threads that revisions have dealt with: all of them if they are one page, otherwise those among the
// newest changes. A failure to read them does not keep the comparison from being shown.
func (h *Host) dealtWith(ctx context.Context, v browserSession, a *artifact.Artifact) (out dealtWith) {
	if !a.Readable(h.Now()) || a.Current == "" {
		return out
	}
	list, next, err := h.Feedback.List(ctx, v.Actor, a, feedback.Selection{})
	if err == nil && next != "" {
		since := max(list.Seq-newestChanges, 0)
		out.more = true
		list, _, err = h.Feedback.List(ctx, v.Actor, a, feedback.Selection{Since: &since})
	}
	if err != nil {
		web.Failed(ctx, fault.CodeOf(err), err)
		return dealtWith{}
	}
	for _, t := range list.Threads {
		if (t.State == feedback.Addressed || t.State == feedback.Resolved) && t.Addressed.Revision != "" {
			out.threads = append(out.threads, t)
		}
	}
	return out
}

// show adds the threads that the revisions after From up to To have dealt with.
func (d dealtWith) show(p *pages.Comparison, a *artifact.Artifact) {
	for _, t := range d.threads {
		if n := t.Addressed.Number; n <= p.From.Number || n > p.To.Number {
			continue
		}
		row := threadRow(a, t)
		first := row.Said[0]
		if words := []rune(first.Text); len(words) > maxDealtWords {
			first.Text, first.Cut = string(words[:maxDealtWords]), true
		}
		row.Said = []pages.Said{first}
		p.Dealt = append(p.Dealt, row)
	}
	if d.more && len(p.Dealt) > 0 {
		p.MoreDealt = threadsPath(a.ID) + "?state=" + string(feedback.Addressed)
	}
}
