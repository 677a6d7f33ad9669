package main

import (
	"context"
	"path/filepath"
	"slices"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/journal"
	"vitrine/cmd/vitrine/seen"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// allShown is the value of --addresses for each open thread that was shown.
const allShown = "all"

// seen returns the threads that this machine has shown.
func (a *app) seen() seen.Memory {
	dir := journal.Folder(a.env)
	if dir != "" {
		dir = filepath.Join(filepath.Dir(dir), "feedback")
	}
	return seen.Memory{Dir: dir}
}

// remember notes which threads are shown.
func (a *artifactContext) remember(all []contract.ThreadSummary) {
	server, err := a.server()
	if err == nil {
		err = a.seen().Add(server, a.artifact, all)
	}
	if err != nil {
		a.screen.Note("publish --addresses will not know these threads: %v", err)
	}
}

// addressed returns the threads that the flags name, with the changes up to which they were shown.
func (a *app) addressed(w publishFlags) (all []contract.AddressThread, err error) {
	switch {
	case len(w.addresses) == 0 && w.note == "":
		return nil, nil
	case len(w.addresses) == 0:
		return nil, failure.New(failure.Invalid, failure.Usage, "--note is about the threads that --addresses names").
			Advise("Give --addresses too, or omit --note.")
	case w.artifact == "":
		return nil, failure.New(failure.Invalid, failure.Usage, "--addresses is for a revision of an artifact").
			Advise("Give --artifact-id too.")
	case w.threads != nil:
		return w.threads, nil
	}
	server, err := a.server()
	if err != nil {
		return nil, err
	}
	shown := a.seen().Load(server, w.of.artifact)
	address := func(t seen.Thread) {
		all = append(all, contract.AddressThread{ThreadID: t.ID, Seq: t.Seq, Note: w.note})
	}
	if slices.Equal(w.addresses, []string{allShown}) {
		for _, t := range shown {
			if t.Open {
				address(t)
			}
		}
		if all == nil {
			err = unread("no open thread of this artifact was shown here", w.of.artifact)
		}
		return all, err
	}
	for _, name := range w.addresses {
		n := slices.IndexFunc(shown, func(t seen.Thread) bool { return string(t.ID) == name })
		if n < 0 {
			return nil, unread("the thread "+failure.Quoted(name)+" was not shown here", w.of.artifact)
		}
		address(shown[n])
	}
	return all, nil
}

// unread refuses to address what the caller has not read.
func unread(why string, a id.Artifact) error {
	return failure.New(failure.Invalid, failure.Usage, "%s, and a publish addresses what its caller has read", why).
		Advise("Read them first: vitrine feedback %s", a)
}

// addressRest addresses the threads that were too many for the publish, by the revision that it made.
func (p *publication) addressRest(ctx context.Context, rest []contract.AddressThread, newKey func() string) error {
	r := &p.result
	for _, t := range rest {
		_, err := p.account.Reply(ctx, "cli_feedback_"+newKey(), r.ArtifactID, t.ThreadID, contract.AnswerThread{
			Addressed: &contract.Addressed{RevisionID: r.RevisionID, Note: t.Note},
		})
		switch {
		case failure.IsCode(err, fault.FeedbackConflict):
			r.Skipped = append(r.Skipped, contract.SkippedThread{ThreadID: t.ThreadID, Reason: "resolved"})
		case failure.IsCode(err, fault.NotFound):
			r.Skipped = append(r.Skipped, contract.SkippedThread{ThreadID: t.ThreadID, Reason: "gone"})
		case err != nil:
			return err
		default:
			r.Addressed = append(r.Addressed, t.ThreadID)
		}
	}
	return nil
}

// skipped says why a thread stays as it was.
var skipped = map[string]string{
	"gone":            "it is no longer there",
	"resolved":        "a person has resolved it",
	"changed":         "it has words that were not shown here",
	"no_new_revision": "there is no new revision",
	"busy":            "others were writing; vitrine feedback reply addresses it with the revision",
}

// noteAddressed says what became of the threads that a publish was to address.
func (a *app) noteAddressed(r contract.Published) {
	if n := len(r.Addressed); n > 0 {
		a.screen.Note("Addressed %d of the threads; a person can resolve them", n)
		if server, err := a.server(); err == nil {
			_ = a.seen().Remove(server, r.ArtifactID, r.Addressed) // otherwise the server says that they have changed
		}
	}
	for _, t := range r.Skipped {
		a.screen.Note("%s stays as it is, because %s", t.ThreadID, skipped[t.Reason])
	}
}
