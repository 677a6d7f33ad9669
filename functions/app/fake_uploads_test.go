package app

import (
	"context"
	"fmt"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/lint"
	"vitrine/shared/publishing/upload"
)

const (
	sessionID     = "upl_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9"
	diffSessionID = "upl_01J8Z0T7Q1W2E3R4T5Y6V7X8Z8" // has files that are diffs
	alienSession  = "upl_01J8Z0T7Q1W2E3R4T5Y6V7X8Z7" // of another workspace
)

// fakeUploads has one session of the member.
type fakeUploads struct {
	*fakeServices
	same  id.Revision            // has the declared files already
	asked contract.CreateSession // last
}

func (f *fakeUploads) Unchanged(
	ctx context.Context, _ credential.Actor, r contract.CreateSession,
) (id.Revision, error) {
	f.asked = r
	return f.same, f.called(ctx, "Unchanged "+string(r.ArtifactID))
}

func (f *fakeUploads) Create(
	ctx context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record, r contract.CreateSession,
	permit func() error, size func(upload.Created) int,
) (upload.Created, error) {
	made := upload.Created{Session: upload.Session{
		ID:        sessionID,
		Artifact:  artifactID,
		Revision:  draftID,
		ExpiresAt: noon,
	}}
	for _, file := range r.Files {
		made.Files = append(made.Files, upload.Target{Path: file.Path, Put: upload.PutTarget{
			URL: "http://localhost:8702/o/1", Headers: map[string]string{"if-none-match": "*"}, Expires: noon,
		}})
	}
	if size(made) == 0 {
		return upload.Created{}, fault.New(fault.FileCountCapExceeded, "too many")
	}
	if err := permit(); err != nil {
		return upload.Created{}, err
	}
	return made, f.commanded(ctx, c, "Create "+r.Title)
}

func (f *fakeUploads) Named(ctx context.Context, u id.Session) (*upload.Session, []upload.Entry, error) {
	err := f.called(ctx, "Named "+string(u))
	switch u {
	case sessionID:
		return &upload.Session{ID: u, Workspace: homeID}, nil, err
	case diffSessionID:
		return &upload.Session{ID: u, Workspace: homeID, Diffs: true}, nil, err
	case alienSession:
		return &upload.Session{ID: u, Workspace: "other"}, nil, err
	}
	return nil, nil, err
}

func (f *fakeUploads) Finalize(ctx context.Context, _ credential.Actor, a upload.Attempt) (upload.Draft, error) {
	if a.Session.Workspace != homeID {
		return upload.Draft{}, fault.New(fault.NotFound, "no such upload session in this workspace")
	}
	return upload.Draft{
		Session:  a.Session.ID,
		Artifact: artifactID,
		Revision: draftID,
		Warnings: lint.Report{Warnings: []lint.Warning{{
			Code:     lint.MissingFile,
			Severity: lint.Error,
			Path:     "index.html",
			Subject:  "a.png",
		}}},
	}, f.commanded(ctx, a.Command, "Finalize "+string(a.Session.ID))
}

func (f *fakeArtifacts) PublishNamed(
	ctx context.Context, _ credential.Actor, c idempotency.Command, a id.Artifact, r id.Revision,
) (artifact.PublishedRevision, error) {
	if a != artifactID {
		return artifact.PublishedRevision{}, artifact.NotFound()
	}
	return artifact.PublishedRevision{Artifact: a, Revision: r}, f.commanded(ctx, c, fmt.Sprintf("Publish %s %s", a, r))
}
