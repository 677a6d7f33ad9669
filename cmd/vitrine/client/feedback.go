package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// Feedback lists a page of the threads of an artifact. query has state, since and cursor. known is the last change that the
// caller knows, and the error is Unchanged if there is no later one; negative: the caller knows none.
func (a *Account) Feedback(
	ctx context.Context, artifact id.Artifact, query url.Values, known int64,
) (l contract.ThreadList, err error) {
	k := a.call(http.MethodGet, artifactPath(artifact)+"/feedback?"+query.Encode())
	k.about = aboutArtifact
	if known >= 0 {
		k.known = `"` + strconv.FormatInt(known, 10) + `"`
	}
	err = a.caller.do(ctx, k, &l)
	if err == nil && l.ArtifactID != artifact {
		err = a.caller.badResponse(a.Hosts.APIURL, "the threads are of another artifact")
	}
	if err == nil {
		err = a.checkPage(l.PageInfo, query.Get("cursor"), len(l.Threads))
	}
	return l, err
}

// Reply answers in a thread.
func (a *Account) Reply(
	ctx context.Context, idem string, artifact id.Artifact, thread id.Thread, answer contract.AnswerThread,
) (t contract.ThreadSummary, err error) {
	k := a.mutation(a.Hosts.APIURL, artifactPath(artifact)+"/feedback/"+string(thread), idem)
	k.body, k.about = answer, aboutArtifact
	if err = a.caller.do(ctx, k, &t); err == nil && t.ID != thread {
		err = a.caller.badResponse(a.Hosts.APIURL, "it answers about another thread")
	}
	return t, err
}
