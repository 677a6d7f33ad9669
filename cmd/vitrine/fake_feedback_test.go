package main

import (
	"net/http"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// listThreads answers that nothing was written after what the client knows. Scripts plan other answers.
func listThreads(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("If-None-Match") == `"7"` {
		w.Header().Set("Retry-After", "4")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	answer(w, 200, contract.ThreadList{
		ArtifactID:   id.Artifact(r.PathValue("artifact")),
		Seq:          7,
		ChangesUntil: 7,
		Threads:      []contract.ThreadSummary{},
	})
}

// dealtWith addresses the threads that were shown up to change 6; the others have newer words.
func dealtWith(all []contract.AddressThread) (addressed []id.Thread, skipped []contract.SkippedThread) {
	addressed, skipped = []id.Thread{}, []contract.SkippedThread{}
	for _, t := range all {
		if t.Seq == 6 {
			addressed = append(addressed, t.ThreadID)
		} else {
			skipped = append(skipped, contract.SkippedThread{ThreadID: t.ThreadID, Reason: "changed"})
		}
	}
	return addressed, skipped
}

func (server *fakeServer) reply(w http.ResponseWriter, r *http.Request) {
	var in contract.AnswerThread
	server.decode(r, &in)
	t := contract.ThreadSummary{ID: id.Thread(r.PathValue("thread")), State: "open", UpdatedAt: contract.At(epoch)}
	if in.Addressed != nil {
		t.State = "addressed"
	}
	answer(w, 200, t)
}
