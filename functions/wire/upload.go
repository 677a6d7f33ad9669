package wire

import (
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/upload"
)

// Session returns a new upload session with the targets of its files.
func Session(made upload.Created) contract.Session {
	out := contract.Session{
		UploadSessionID: made.Session.ID,
		ArtifactID:      made.Session.Artifact,
		RevisionID:      made.Session.Revision,
		Status:          string(upload.Pending),
		ExpiresAt:       contract.At(made.Session.ExpiresAt),
		Files:           make([]contract.UploadTarget, len(made.Files)),
	}
	for n, f := range made.Files {
		out.Files[n] = contract.UploadTarget{Status: "reused", Path: f.Path}
		if f.Put.URL != "" {
			expires := contract.At(f.Put.Expires)
			out.Files[n] = contract.UploadTarget{
				Status:          "upload_required",
				Path:            f.Path,
				PutURL:          f.Put.URL,
				RequiredHeaders: f.Put.Headers,
				ExpiresAt:       &expires,
			}
		}
	}
	return out
}

// SessionSize returns how many bytes a session takes in the answer of a function.
func SessionSize(made upload.Created) int {
	body, _ := contract.Encode(Session(made))
	size, _ := limits.FunctionBody(body)
	return size
}

// Finalized returns the draft of a session. loads is what pages may load from other hosts.
func Finalized(draft upload.Draft, loads media.Sources) contract.Finalized {
	return contract.Finalized{
		UploadSessionID: draft.Session,
		ArtifactID:      draft.Artifact,
		RevisionID:      draft.Revision,
		Status:          string(artifact.Draft),
		Title:           draft.Title,
		Entrypoint:      draft.Entrypoint,
		FileCount:       draft.FileCount,
		SizeBytes:       draft.Size,
		Warnings:        draft.Warnings.Wire(loads),
		WarningsOmitted: draft.Warnings.More,
	}
}
