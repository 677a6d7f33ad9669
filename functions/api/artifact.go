package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/functions/wire"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/feedback"
	"vitrine/shared/publishing/view"
)

type listInput struct {
	Cursor string `query:"cursor" doc:"next_cursor of the page before; at most 500 characters"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"50"`

	blank bool // an empty cursor was sent
}

// Resolve implements huma.Resolver.
func (i *listInput) Resolve(c huma.Context) []error {
	u := c.URL()
	q := u.Query()
	i.blank = i.Cursor == "" && q.Has("cursor")
	if q.Has("limit") && q.Get("limit") == "" { // huma would take it for missing
		return []error{&huma.ErrorDetail{Location: "query.limit", Message: "invalid integer"}}
	}
	return nil
}

func (i *listInput) refuseBlank() error {
	if i.blank {
		return fault.New(fault.InvalidCursor, "the cursor is empty; leave it out for the first page")
	}
	return nil
}

// wideListInput is the input of lists that once had no pages. Their default is the largest page.
type wideListInput struct {
	Cursor string `query:"cursor" doc:"next_cursor of the page before; at most 500 characters"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"100"`

	list listInput
}

// Resolve implements huma.Resolver.
func (i *wideListInput) Resolve(c huma.Context) []error {
	i.list = listInput{Cursor: i.Cursor, Limit: i.Limit}
	return i.list.Resolve(c)
}

func (i *listInput) page() (cursor.Page, error) {
	return cursor.Page{Cursor: i.Cursor, Limit: i.Limit}, i.refuseBlank()
}

func (h *Host) list(ctx context.Context, request *web.Request, in *listInput) (contract.ArtifactList, error) {
	if err := in.refuseBlank(); err != nil {
		return contract.ArtifactList{}, err
	}
	rows, next, err := h.Artifacts.List(ctx, request.Actor, artifact.Page{Cursor: in.Cursor, Limit: in.Limit})
	return contract.ArtifactList{Data: contract.Rows(rows, wire.ArtifactSummary), PageInfo: contract.Page(next)}, err
}

type artifactInput struct {
	Artifact string `path:"artifact_id"`
}

// publishInput has all of its parameters, like every input, because huma ignores those of an embedded type.
type publishInput struct {
	Artifact string `path:"artifact_id"`
	Revision string `path:"revision_id"`
	Body     *contract.PublishRevision
}

func target(request *web.Request) artifact.Target {
	return artifact.Target{
		Command:  request.Command,
		Record:   request.Record,
		Artifact: request.Artifact,
		Revision: request.Revision,
	}
}

func (h *Host) delete(ctx context.Context, request *web.Request, in *artifactInput) (contract.DeletedArtifact, error) {
	at, err := h.Artifacts.Delete(ctx, request.Actor, target(request))
	return contract.DeletedArtifact{ArtifactID: id.Artifact(in.Artifact), DeletedAt: contract.At(at)}, err
}

func (h *Host) publish(ctx context.Context, request *web.Request, in *publishInput) (contract.Published, error) {
	t := target(request)
	t.RequestedID = id.Artifact(in.Artifact)
	var err error
	if in.Body != nil {
		t.Addresses, err = feedback.Addresses(wire.Addresses(in.Body.Addresses))
	}
	if err != nil {
		return contract.Published{}, err
	}
	p, err := h.Artifacts.Publish(ctx, request.Actor, t)
	return published(p, request.Actor.Key), err
}

// viewInput and revisionInput are the inputs of views, whose files have pages.
type viewInput struct {
	Artifact    string `path:"artifact_id"`
	FilesCursor string `query:"files_cursor" doc:"files_next_cursor of the page before"`
	Feedback    string `query:"feedback" enum:"1" doc:"1: the answer says how much is written about the artifact"`
}

type revisionInput struct {
	Artifact    string `path:"artifact_id"`
	Revision    string `path:"revision_id"`
	FilesCursor string `query:"files_cursor" doc:"files_next_cursor of the page before"`
	Feedback    string `query:"feedback" enum:"1" doc:"1: the answer says how much is written about the artifact"`
}

func (h *Host) latest(ctx context.Context, request *web.Request, in *viewInput) (contract.AgentView, error) {
	v, err := h.Views.Latest(ctx, request.Actor, request.Artifact, cursor.Page{Cursor: in.FilesCursor})
	return h.agentView(request, v), err
}

func (h *Host) pinned(ctx context.Context, request *web.Request, in *revisionInput) (contract.AgentView, error) {
	p := cursor.Page{Cursor: in.FilesCursor}
	v, err := h.Views.Pinned(ctx, request.Actor, request.Artifact, request.Revision, p)
	return h.agentView(request, v), err
}

// agentView returns a view, with how much is written about the artifact if the request asked for that.
func (h *Host) agentView(request *web.Request, v view.View) contract.AgentView {
	out := wire.AgentView(v, request.Actor, h.Loads)
	if counts := request.Feedback; counts != nil {
		out.Feedback = &contract.ViewFeedback{
			Open: counts.Open,
			Seq:  counts.Seq,
			URL:  h.URLs.Origins.API + "/v1/artifacts/" + string(out.ArtifactID) + "/feedback",
		}
	}
	return out
}

type fileInput struct {
	Artifact string `path:"artifact_id"`
	Path     string `query:"path" required:"true" doc:"of the file, as the agent view lists it"`
	Revision string `query:"revision_id" doc:"published; the newest one if left out"`
}

func (h *Host) fileContent(ctx context.Context, request *web.Request, in *fileInput) (contract.FileContent, error) {
	f, err := h.Views.File(ctx, request.Actor, request.Artifact, id.Revision(in.Revision), in.Path)
	if err != nil {
		return contract.FileContent{}, err
	}
	return wire.FileContent(f)
}

func (h *Host) revisions(
	ctx context.Context, request *web.Request, in *artifactPageInput,
) (contract.RevisionList, error) {
	return h.revisionsOf(ctx, request, request.Artifact, in)
}

func (h *Host) revisionsOf(
	ctx context.Context, request *web.Request, a *artifact.Artifact, in *artifactPageInput,
) (contract.RevisionList, error) {
	p, err := in.list.page()
	if err != nil {
		return contract.RevisionList{}, err
	}
	rows, next, err := h.Artifacts.Revisions(ctx, request.Actor, a, p)
	return wire.Revisions(id.Artifact(in.Artifact), rows, next), err
}

type tokenInput struct {
	Token       string `path:"token"`
	FilesCursor string `query:"files_cursor" doc:"files_next_cursor of the page before"`
}

func (h *Host) public(ctx context.Context, in *tokenInput) (contract.PublicAgentView, error) {
	v, err := h.Views.Public(ctx, in.Token, cursor.Page{Cursor: in.FilesCursor})
	return wire.PublicAgentView(v), err
}

type resolveInput struct {
	Body contract.ResolveRequest
}

func (h *Host) resolve(ctx context.Context, in *resolveInput) (contract.Resolved, error) {
	v, err := h.Views.Resolve(ctx, in.Body, false)
	return wire.Resolved(v), err
}
