package app

import (
	"net/http"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
)

// restore publishes an older revision of an artifact again.
func (h *Host) restore(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	from := r.PathValue("revisionId")
	command, err := commandOf(v, idempotency.RestoreRevision, r.PathValue("artifactId")+"/"+from, form["once"], nil)
	if err != nil {
		return err
	}
	t := artifact.Target{Command: command, RequestedID: pathArtifact(r)}
	_, err = h.Artifacts.Restore(r.Context(), v.Actor, t, id.Revision(from))
	if m, told := unrestored[fault.CodeOf(err)]; told {
		m.Links = []pages.Link{{Path: artifactPath(pathArtifact(r)), Text: "Back to the artifact"}}
		return explained{err, m}
	}
	if err != nil {
		return err
	}
	redirect(w, artifactPath(pathArtifact(r))+"#revisions")
	return nil
}

// unrestored are the pages for restorations that other revisions prevent.
var unrestored = map[fault.Code]pages.Message{
	fault.DraftRevisionConflict: {
		Heading: "A draft is in the way",
		Text: "Nothing was changed: this artifact has a draft that has not been published yet. Publish it first, or wait until " +
			"it is discarded.",
	},
	fault.RevisionCeilingExceeded: {
		Heading: "It has as many revisions as it is allowed",
		Text: "Nothing was changed: an older revision that is restored becomes a new one, and this artifact takes no " +
			"more of them. Publish a new artifact instead.",
	},
}
