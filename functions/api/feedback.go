package api

import (
	"context"
	"net/http"
	"strconv"

	"vitrine/functions/wire"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/feedback"
)

// feedbackRoutes are the threads about an artifact, for agents.
func (h *Host) feedbackRoutes() []web.Route {
	write := []fault.Code{fault.ArtifactNotFound, fault.NotFound, fault.Forbidden, fault.FeedbackConflict}
	return []web.Route{
		web.Guarded(web.Operation{
			ID:               "feedback.list",
			Method:           "GET",
			Path:             "/v1/artifacts/{artifact_id}/feedback",
			Summary:          "What people and agents wrote about an artifact, by its last change",
			Scope:            credential.Read,
			ConcurrentLimits: true,
			Feedback:         true,
			Errors:           []fault.Code{fault.ArtifactNotFound, fault.InvalidCursor},
			Answers: []web.Answer{{
				Status:      http.StatusNotModified,
				Description: "seq is that of If-None-Match; ask again when Retry-After has passed",
			}},
		}, h.threads),
		web.Guarded(web.Operation{
			ID:      "feedback.create",
			Method:  "POST",
			Path:    "/v1/artifacts/{artifact_id}/feedback",
			Summary: "Write about an artifact, a file, lines or a quote of it",
			Status:  http.StatusCreated,
			Scope:   credential.Publish,
			Command: web.Command{Operation: idempotency.CreateFeedback, Target: "artifact_id"},
			Errors:  append([]fault.Code{fault.StorageUnavailable}, write...),
		}, h.createThread),
		web.Guarded(web.Operation{
			ID:               "feedback.get",
			Method:           "GET",
			Path:             "/v1/artifacts/{artifact_id}/feedback/{thread_id}",
			Summary:          "A thread with its messages",
			Scope:            credential.Read,
			ConcurrentLimits: true,
			Errors:           []fault.Code{fault.ArtifactNotFound, fault.NotFound, fault.InvalidCursor},
		}, h.thread),
		web.Guarded(web.Operation{
			ID:      "feedback.answer",
			Method:  "POST",
			Path:    "/v1/artifacts/{artifact_id}/feedback/{thread_id}",
			Summary: "Reply in a thread, or say which revision has dealt with it",
			Scope:   credential.Publish,
			Command: web.Command{Operation: idempotency.AnswerFeedback, Target: "thread_id"},
			Errors:  write,
		}, h.answerThread),
	}
}

type threadsInput struct {
	Artifact string `path:"artifact_id"`
	Since    string `query:"since" pattern:"^[0-9]{1,12}$" doc:"changes_until of an earlier answer: only later changes"`
	State    string `query:"state" enum:"open,addressed,resolved" doc:"not with since"`
	Cursor   string `query:"cursor" doc:"next_cursor of the page before"`
	Match    string `header:"If-None-Match" doc:"the ETag of an earlier answer, or changes_until in quotes"`
}

type threadInput struct {
	Artifact string `path:"artifact_id"`
	Thread   string `path:"thread_id"`
	Cursor   string `query:"cursor" doc:"next_cursor of the page before"`
}

type createThreadInput struct {
	Artifact string `path:"artifact_id"`
	Body     contract.CreateThread
}

type answerThreadInput struct {
	Artifact string `path:"artifact_id"`
	Thread   string `path:"thread_id"`
	Body     contract.AnswerThread
}

// discussed returns what a request about a thread names.
func discussed(request *web.Request, a, thread string) feedback.Target {
	return feedback.Target{
		Command:     request.Command,
		Record:      request.Record,
		RequestedID: id.Artifact(a),
		Artifact:    request.Artifact,
		Unread:      request.Member != nil,
		Thread:      id.Thread(thread),
	}
}

// author returns the caller: a person on a route of members, otherwise an agent.
func author(request *web.Request) feedback.Author {
	if request.Member != nil {
		return feedback.Person(*request.Member)
	}
	return feedback.ByAgent(request.Actor)
}

// discussedArtifact returns the artifact of a request. Routes of members read it here, and all others with the caller.
func (h *Host) discussedArtifact(ctx context.Context, request *web.Request, a string) (*artifact.Artifact, error) {
	if request.Member == nil {
		return request.Artifact, nil
	}
	return h.Artifacts.Owned(ctx, request.Actor, id.Artifact(a))
}

// threadsTag is the ETag of a list of threads. An address, its query included, has one answer at a change.
func threadsTag(seq int64) string { return `"` + strconv.FormatInt(seq, 10) + `"` }

func (h *Host) threads(ctx context.Context, request *web.Request, in *threadsInput) (contract.ThreadList, error) {
	a, err := h.discussedArtifact(ctx, request, in.Artifact)
	if err != nil {
		return contract.ThreadList{}, err
	}
	l, next, err := h.listing(ctx, request, in, a)
	if next == "" { // a copy of a page must not outlive the cursor in it
		request.ETag(threadsTag(l.Seq))
	}
	return threadList(in, l, next), err
}

// listing reads the page of threads that a request asks for.
func (h *Host) listing(
	ctx context.Context, request *web.Request, in *threadsInput, a *artifact.Artifact,
) (feedback.Listing, string, error) {
	sel := feedback.Selection{
		State:  feedback.State(in.State),
		Cursor: in.Cursor,
		Counts: request.Feedback,
		Known:  func(seq int64) error { return request.NotModified(threadsTag(seq), limits.FeedbackWait) },
	}
	if in.Since != "" {
		since, err := strconv.ParseInt(in.Since, 10, 64)
		if err != nil {
			return feedback.Listing{}, "", fault.New(fault.InvalidRequest,
				"since is the changes_until of an earlier answer, a number")
		}
		sel.Since = &since
	}
	return h.Feedback.List(ctx, request.Actor, a, sel)
}

func threadList(in *threadsInput, l feedback.Listing, next string) contract.ThreadList {
	return contract.ThreadList{
		ArtifactID:   id.Artifact(in.Artifact),
		Seq:          l.Seq,
		Open:         l.Open,
		ChangesUntil: l.Until,
		Threads:      contract.Rows(l.Threads, feedback.Thread.Record),
		PageInfo:     contract.Page(next),
	}
}

func (h *Host) createThread(
	ctx context.Context, request *web.Request, in *createThreadInput,
) (contract.ThreadSummary, error) {
	r := feedback.Remark{Body: in.Body.Body, Revision: in.Body.RevisionID, Path: in.Body.Path}
	if a := in.Body.Anchor; a != nil {
		r.Anchor = wire.Anchor(*a)
	}
	t, err := h.Feedback.Create(ctx, request.Actor, author(request), discussed(request, in.Artifact, ""), r)
	return t.Record(), err
}

func (h *Host) thread(ctx context.Context, request *web.Request, in *threadInput) (contract.Thread, error) {
	a, err := h.discussedArtifact(ctx, request, in.Artifact)
	if err != nil {
		return contract.Thread{}, err
	}
	t, messages, next, err := h.Feedback.Thread(ctx, request.Actor, a, id.Thread(in.Thread), in.Cursor)
	return contract.Thread{
		ThreadSummary: t.Record(),
		Items:         contract.Rows(messages, feedback.Message.Record),
		PageInfo:      contract.Page(next),
	}, err
}

func (h *Host) answerThread(
	ctx context.Context, request *web.Request, in *answerThreadInput,
) (contract.ThreadSummary, error) {
	answer := feedback.Answer{Reply: in.Body.Reply, Resolve: in.Body.Resolved}
	if by := in.Body.Addressed; by != nil {
		answer.Addressed, answer.Note = by.RevisionID, by.Note
	}
	return h.answer(ctx, request, in.Artifact, in.Thread, answer)
}

func (h *Host) answer(
	ctx context.Context, request *web.Request, a, thread string, answer feedback.Answer,
) (contract.ThreadSummary, error) {
	t, err := h.Feedback.Answer(ctx, request.Actor, author(request), discussed(request, a, thread), answer)
	return t.Record(), err
}
