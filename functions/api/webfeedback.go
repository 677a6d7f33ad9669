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
		}, h.threads),
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
			Summary: "Reply in a thread, resolve it or open it again",
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
			Errors:  []fault.Code{fault.ArtifactNotFound},
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

type answerThreadAsMemberInput struct {
	Artifact string `path:"artifact_id"`
	Thread   string `path:"thread_id"`
	Body     contract.AnswerThreadAsMember
}

func (h *Host) answerThreadAsMember(
	ctx context.Context, request *web.Request, in *answerThreadAsMemberInput,
) (contract.ThreadSummary, error) {
	return h.answer(ctx, request, in.Artifact, in.Thread, feedback.Answer{
		Reply:   in.Body.Reply,
		Reopen:  in.Body.State == string(feedback.Open),
		Resolve: in.Body.State == string(feedback.Resolved),
	})
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
	change := feedback.SettingsChange{AgentsResolve: in.Body.AgentsResolve}
	if in.Body.Policy != "" {
		off := in.Body.Policy == wire.FeedbackOff
		change.Off = &off
	}
	s, err := h.Feedback.Set(ctx, request.Actor, discussed(request, in.Artifact, ""), change)
	return wire.FeedbackPolicy(id.Artifact(in.Artifact), s), err
}
