package api

import (
	"context"
	"net/http"

	"vitrine/functions/wire"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/feedback"
)

// memberFeedbackRoutes are the threads about an artifact, for people.
func (h *Host) memberFeedbackRoutes() []web.Route {
	write := []fault.Code{fault.ArtifactNotFound, fault.NotFound, fault.Forbidden, fault.FeedbackConflict}
	return []web.Route{
		web.Member(web.Operation{
			ID:               "web.feedback.inbox",
			Method:           "GET",
			Path:             "/v1/web/feedback",
			Summary:          "The artifacts of the workspace with open threads, the last change first",
			Scope:            credential.Read,
			ConcurrentLimits: true,
			Errors:           []fault.Code{fault.InvalidCursor},
		}, h.feedbackInbox),
		web.Member(web.Operation{
			ID:               "web.feedback.list",
			Method:           "GET",
			Path:             "/v1/web/artifacts/{artifact_id}/feedback",
			Summary:          "What people and agents wrote about an artifact, by its last change",
			Scope:            credential.Read,
			ConcurrentLimits: true,
			Errors:           []fault.Code{fault.ArtifactNotFound, fault.InvalidCursor},
		}, h.memberThreads),
		web.Member(web.Operation{
			ID:      "web.feedback.create",
			Method:  "POST",
			Path:    "/v1/web/artifacts/{artifact_id}/feedback",
			Summary: "Write about an artifact, a file, lines or a quote of it",
			Status:  http.StatusCreated,
			Scope:   credential.Publish,
			Command: web.Command{Operation: idempotency.CreateFeedback, Target: "artifact_id"},
			Errors:  append([]fault.Code{fault.StorageUnavailable}, write...),
		}, h.createThread),
		web.Member(web.Operation{
			ID:               "web.feedback.get",
			Method:           "GET",
			Path:             "/v1/web/artifacts/{artifact_id}/feedback/{thread_id}",
			Summary:          "A thread with its messages",
			Scope:            credential.Read,
			ConcurrentLimits: true,
			Errors:           []fault.Code{fault.ArtifactNotFound, fault.NotFound, fault.InvalidCursor},
		}, h.thread),
		web.Member(web.Operation{
			ID:      "web.feedback.answer",
			Method:  "POST",
			Path:    "/v1/web/artifacts/{artifact_id}/feedback/{thread_id}",
			Summary: "Reply in a thread, resolve it or open it again; let through or drop what guests wrote",
			Scope:   credential.Publish,
			Command: web.Command{Operation: idempotency.AnswerFeedback, Target: "thread_id"},
			Errors:  write,
		}, h.answerThreadAsMember),
		web.Member(web.Operation{
			ID:      "web.feedback.delete",
			Method:  "DELETE",
			Path:    "/v1/web/artifacts/{artifact_id}/feedback/{thread_id}",
			Summary: "Delete a thread with its words",
			Scope:   credential.Publish,
			Command: web.Command{Operation: idempotency.DeleteFeedback, Target: "thread_id"},
			Errors:  write,
		}, h.deleteThread),
		web.Member(web.Operation{
			ID:      "web.feedback.messages.delete",
			Method:  "DELETE",
			Path:    "/v1/web/artifacts/{artifact_id}/feedback/{thread_id}/messages/{message_id}",
			Summary: "Delete the words of one's own message, and a thread that has no other",
			Scope:   credential.Publish,
			Command: web.Command{Operation: idempotency.DeleteMessage, Target: "message_id"},
			Errors:  write,
		}, h.deleteMessage),
		web.Member(web.Operation{
			ID:      "web.feedback.policy.set",
			Method:  "PUT",
			Path:    "/v1/web/artifacts/{artifact_id}/feedback-policy",
			Summary: "Say who may write about an artifact, and whether agents resolve threads",
			Scope:   credential.Admin,
			Command: web.Command{Operation: idempotency.SetFeedback, Target: "artifact_id"},
			Errors:  []fault.Code{fault.ArtifactNotFound, fault.Forbidden},
		}, h.setFeedbackPolicy),
	}
}

func (h *Host) feedbackInbox(
	ctx context.Context, request *web.Request, in *listInput,
) (contract.FeedbackInbox, error) {
	if err := in.refuseBlank(); err != nil {
		return contract.FeedbackInbox{}, err
	}
	rows, next, err := h.Feedback.Inbox(ctx, request.Actor, cursor.Page{Cursor: in.Cursor, Limit: in.Limit})
	return contract.FeedbackInbox{Items: contract.Rows(rows, wire.InboxRow), PageInfo: contract.Page(next)}, err
}

func (h *Host) memberThreads(
	ctx context.Context, request *web.Request, in *threadsInput,
) (out contract.MemberThreadList, err error) {
	a, err := h.discussedArtifact(ctx, request, in.Artifact)
	if err != nil {
		return out, err
	}
	l, next, err := h.listing(ctx, request, in, a)
	if err != nil {
		return out, err
	}
	var held []feedback.Held
	if l.Held > 0 {
		if held, err = h.Feedback.Held(ctx, request.Actor, a); err != nil {
			return out, err
		}
	}
	return contract.MemberThreadList{
		ThreadList: threadList(in, l, next),
		Held:       contract.Rows(held, feedback.Held.Record),
		HeldSeq:    l.HeldSeq,
	}, nil
}

type answerThreadAsMemberInput struct {
	Artifact string `path:"artifact_id"`
	Thread   string `path:"thread_id"`
	Body     contract.AnswerThreadAsMember
}

func (h *Host) answerThreadAsMember(
	ctx context.Context, request *web.Request, in *answerThreadAsMemberInput,
) (contract.ThreadSummary, error) {
	if in.Body.Held != "" || in.Body.Seen != 0 {
		return h.decideHeld(ctx, request, in)
	}
	return h.answer(ctx, request, in.Artifact, in.Thread, feedback.Answer{
		Reply:   in.Body.Reply,
		Reopen:  in.Body.State == string(feedback.Open),
		Resolve: in.Body.State == string(feedback.Resolved),
	})
}

// decideHeld lets through or drops what guests wrote.
func (h *Host) decideHeld(
	ctx context.Context, request *web.Request, in *answerThreadAsMemberInput,
) (contract.ThreadSummary, error) {
	asked := in.Body
	if asked.Held == "" || asked.Seen == 0 || asked.Reply != "" || asked.State != "" {
		return contract.ThreadSummary{}, fault.New(fault.InvalidRequest,
			"send held with seen, which is held_seq of the list that the person saw, and neither reply nor state")
	}
	var t feedback.Thread
	var err error
	if target := discussed(request, in.Artifact, in.Thread); asked.Held == "drop" {
		t, err = h.Feedback.Drop(ctx, request.Actor, target, asked.Seen)
	} else {
		t, err = h.Feedback.LetThrough(ctx, request.Actor, author(request), target, asked.Seen)
	}
	return t.Record(), err
}

type deleteThreadInput struct {
	Artifact string `path:"artifact_id"`
	Thread   string `path:"thread_id"`
}

func (h *Host) deleteThread(
	ctx context.Context, request *web.Request, in *deleteThreadInput,
) (contract.ThreadSummary, error) {
	return h.answer(ctx, request, in.Artifact, in.Thread, feedback.Answer{Delete: true})
}

type deleteMessageInput struct {
	Artifact string `path:"artifact_id"`
	Thread   string `path:"thread_id"`
	Message  string `path:"message_id"`
}

func (h *Host) deleteMessage(
	ctx context.Context, request *web.Request, in *deleteMessageInput,
) (contract.ThreadSummary, error) {
	t, err := h.Feedback.DeleteMessage(
		ctx, request.Actor, author(request), discussed(request, in.Artifact, in.Thread), id.Message(in.Message))
	return t.Record(), err
}

type feedbackPolicyInput struct {
	Artifact string `path:"artifact_id"`
	Body     contract.SetFeedbackPolicy
}

func (h *Host) setFeedbackPolicy(
	ctx context.Context, request *web.Request, in *feedbackPolicyInput,
) (contract.FeedbackPolicy, error) {
	s, err := h.Feedback.Set(ctx, request.Actor, discussed(request, in.Artifact, ""), wire.FeedbackSettings(in.Body))
	return wire.FeedbackPolicy(id.Artifact(in.Artifact), s), err
}
