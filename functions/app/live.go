package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/live"
)

// liveRoutes are polled by open pages. A poll counts neither as a read of the artifact nor as a request of the member.
func (h *Host) liveRoutes() []route {
	return []route{
		{method: "POST", path: "/api/live/access-links/{publicId}", handle: timed(polled(h.pollShare))},
		{method: "GET", path: "/api/live/artifacts/{artifactId}", handle: timed(polled(h.pollMember))},
	}
}

// poll answers a poll of an open page.
type poll func(http.ResponseWriter, *http.Request) (live.Answer, error)

// polled writes the answer to a poll: 204 if nothing is new, 200 with a pointer, 404 if the page has to close. Every
// answer that leaves the page open says when to ask again.
// liveRetry is the Retry-After of a poll that the tables did not answer.
const liveRetry = 15 * time.Second

func polled(ask poll) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		answer, err := ask(w, r)
		if err != nil {
			err = unopened(err)
			if fault.KindOf(err) == fault.KindUnavailable {
				web.RetryAfter(w.Header(), liveRetry)
			}
			return err
		}
		web.RetryAfter(w.Header(), answer.Wait)
		w.Header().Set("Vitrine-Follows", follows[answer.Follows])
		w.Header().Set("Vitrine-Claimed", strconv.FormatBool(answer.Claimed))
		if answer.Pointer == nil {
			w.Header().Set("Cache-Control", "no-store")
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		return writeJSON(w, http.StatusOK, contract.LiveUpdate{
			Type:    contract.PublishedRevision,
			Pointer: contract.Pointer(*answer.Pointer),
		})
	}
}

// follows tell a page what it shows, because the page of a link does not know the kind of the link.
var follows = map[bool]string{true: "newest", false: "revision"}

func (h *Host) pollShare(w http.ResponseWriter, r *http.Request) (live.Answer, error) {
	members, err := readObject(w, r, limits.FormBody)
	if err != nil {
		return live.Answer{}, err
	}
	link := contract.ResolveRequest{PublicID: id.Public(r.PathValue("publicId"))}
	var shown id.Revision
	err = errors.Join(json.Unmarshal(members["blob"], &link.Blob), json.Unmarshal(members["revision_id"], &shown))
	if _, malformed := shown.Bits(); err != nil || malformed != nil || link.Blob == "" {
		return live.Answer{}, fault.New(fault.InvalidRequest, "The body must be an object with blob and revision_id.")
	}
	web.RedactSecret(r.Context(), link.Blob)
	return h.Live.Share(r.Context(), link.PublicID, link.Blob, shown)
}

// pollMember answers a browser that is signed out like one of another workspace.
func (h *Host) pollMember(w http.ResponseWriter, r *http.Request) (live.Answer, error) {
	shown := id.Revision(r.URL.Query().Get("revision_id"))
	if _, err := shown.Bits(); err != nil {
		return live.Answer{}, fault.New(fault.InvalidRequest, "The query must have a revision_id.")
	}
	v, err := h.visitor(r, false)
	if err == nil {
		err = v.Actor.Require(credential.Read)
	}
	if err != nil {
		return live.Answer{}, err
	}
	answer, err := h.Live.Member(r.Context(), v.Actor, pathArtifact(r), shown)
	if err == nil {
		w.Header().Set("Vitrine-Feedback", fmt.Sprintf("%d.%d", answer.Feedback, answer.FeedbackHeld))
	}
	return answer, err
}
