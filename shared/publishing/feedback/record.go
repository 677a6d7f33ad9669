package feedback

import (
	"time"

	"vitrine/shared/platform/contract"
)

// Record returns a thread as lists show it.
func (t Thread) Record() contract.ThreadSummary {
	out := contract.ThreadSummary{
		ID:         t.ID,
		ArtifactID: t.Artifact,
		State:      string(t.State),
		Seq:        t.Seq,
		RevisionID: t.Revision,
		Path:       t.Path,
		Messages:   t.Messages,
		CreatedAt:  contract.At(t.First.At),
		UpdatedAt:  contract.At(t.UpdatedAt),
	}
	if t.State == Deleted {
		return out
	}
	out.Anchor = t.Anchor.record(t.First.Author)
	out.First = t.First.record()
	if !t.Newest.At.IsZero() {
		out.Newest = t.Newest.record()
	}
	if by := t.Addressed; by.Revision != "" {
		out.Addressed = &contract.AddressedBy{
			RevisionID: by.Revision,
			Number:     by.Number,
			Note:       by.By.said(by.Note, by.At),
		}
	}
	return out
}

// Record returns a message as it is shown.
func (m Message) Record() contract.ThreadMessage {
	out := contract.ThreadMessage{ID: m.ID, Said: m.Author.said(m.Body, m.At)}
	out.Deleted = m.Deleted
	return out
}

// Record returns what waits as members see it.
func (h Held) Record() contract.HeldMessage {
	return contract.HeldMessage{
		ThreadID:   h.Thread,
		Reply:      h.Reply,
		Seq:        h.Number,
		RevisionID: h.Revision,
		Path:       h.Path,
		Anchor:     h.Anchor.record(h.Author),
		Said:       h.Author.said(h.Body, h.At),
	}
}

func (e Excerpt) record() *contract.Said {
	s := e.Author.said(e.Text, e.At)
	s.Cut, s.Deleted = e.Cut, e.Text == ""
	return &s
}

func (a Author) said(words string, at time.Time) contract.Said {
	return contract.Said{
		Untrusted: true,
		Trust:     string(a.Kind),
		Author:    a.Name,
		Text:      words,
		At:        contract.At(at),
	}
}

func (a Anchor) record(by Author) *contract.Quoted {
	q := &contract.Quoted{
		Anchor: contract.Anchor{
			Kind:   string(a.Kind),
			From:   a.From,
			To:     a.To,
			Exact:  a.Exact,
			Prefix: a.Prefix,
			Suffix: a.Suffix,
		},
		Untrusted: true,
		Trust:     string(by.Kind),
	}
	if a.Kind == OnText {
		q.Verified = &a.Verified
	}
	return q
}
