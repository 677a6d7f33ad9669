package wire

import (
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/feedback"
)

// Addresses returns the threads that a publication is asked to address.
func Addresses(all []contract.AddressThread) []artifact.Address {
	return contract.Rows(all, func(a contract.AddressThread) artifact.Address {
		return artifact.Address{Thread: a.ThreadID, Seq: a.Seq, Note: a.Note}
	})
}

// Anchor returns what a thread is asked to be about.
func Anchor(a contract.Anchor) feedback.Anchor {
	return feedback.Anchor{
		Kind:   feedback.AnchorKind(a.Kind),
		From:   a.From,
		To:     a.To,
		Exact:  a.Exact,
		Prefix: a.Prefix,
		Suffix: a.Suffix,
	}
}

// Closed returns what a publication did to threads; nil: it was asked for none.
func Closed(c *artifact.Closed) (addressed []id.Thread, skipped []contract.SkippedThread) {
	if c == nil {
		return nil, nil
	}
	return append([]id.Thread{}, c.Addressed...), contract.Rows(c.Skipped, func(s artifact.Skip) contract.SkippedThread {
		return contract.SkippedThread{ThreadID: s.Thread, Reason: string(s.Reason)}
	})
}

// Who may write about an artifact.
const (
	feedbackOff     = "off"
	feedbackMembers = "members"
	feedbackLinks   = "links"
)

// FeedbackPolicy returns what people decided about the threads of an artifact.
func FeedbackPolicy(a id.Artifact, s feedback.Settings) contract.FeedbackPolicy {
	out := contract.FeedbackPolicy{
		ArtifactID:    a,
		Policy:        feedbackMembers,
		GuestsHeld:    !s.AtOnce,
		AgentsResolve: s.AgentsResolve,
	}
	switch {
	case s.Off:
		out.Policy = feedbackOff
	case s.Links:
		out.Policy = feedbackLinks
	}
	return out
}

// FeedbackSettings returns the change that a person asks for.
func FeedbackSettings(asked contract.SetFeedbackPolicy) feedback.SettingsChange {
	change := feedback.SettingsChange{AgentsResolve: asked.AgentsResolve}
	if asked.Policy != "" {
		off, links := asked.Policy == feedbackOff, asked.Policy == feedbackLinks
		change.Off, change.Links = &off, &links
	}
	if asked.GuestsHeld != nil {
		atOnce := !*asked.GuestsHeld
		change.AtOnce = &atOnce
	}
	return change
}

// InboxRow returns an artifact with open threads.
func InboxRow(r feedback.InboxRow) contract.FeedbackInboxRow {
	return contract.FeedbackInboxRow{
		ArtifactID: r.Artifact.ID,
		Title:      r.Artifact.Title,
		Open:       r.Open,
		Held:       r.Held,
		Seq:        r.Seq,
		UpdatedAt:  contract.At(r.UpdatedAt),
	}
}
