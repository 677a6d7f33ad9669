package main

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// claim gives the person the artifacts of the trial workspace, once for each Idempotency-Key.
func (server *fakeServer) claim(w http.ResponseWriter, r *http.Request) {
	var in contract.ClaimRequest
	server.decode(r, &in)
	by, s := r.Header.Get("Idempotency-Key"), &server.people
	if in.ClaimToken != claim || s.claimedBy != "" && s.claimedBy != by {
		notFound(w)
		return
	}
	s.claimedBy = by
	out := contract.Claimed{
		DestinationWorkspaceID: workspace,
		SourceWorkspaceID:      "6f1ab1f6-2b0c-4b1f-9b53-0c8d1fd0a002",
		ArtifactIDs:            []id.Artifact{},
		ClaimTokenID:           "ct_00000000000000000000000005",
	}
	for n := range s.bring {
		out.ArtifactIDs = append(out.ArtifactIDs, id.Artifact(fmt.Sprintf("art_%026d", 2+n)))
	}
	answer(w, 200, out)
}

// keyRows returns the keys that exist: those that people created, the newest first, then older ones that scripts ask
// for.
func (server *fakeServer) keyRows() (rows []contract.WebKey) {
	for _, made := range server.people.made {
		k := contract.WebKey{APIKeySummary: made.APIKey, Revoked: !server.people.keys[made.Secret]}
		if at := contract.At(epoch); k.Revoked {
			k.RevokedAt = &at
		}
		rows = append(rows, k)
	}
	slices.SortFunc(rows, func(a, b contract.WebKey) int { return strings.Compare(string(b.ID), string(a.ID)) })
	used, over := contract.At(epoch.Add(-48*time.Hour)), contract.At(epoch.Add(-time.Hour))
	for n := range server.people.older {
		k := contract.WebKey{APIKeySummary: contract.APIKeySummary{
			ID:          id.Key(fmt.Sprintf("key_%026d", 900000+n)),
			WorkspaceID: workspace,
			Name:        "older \x1b[31m" + strconv.Itoa(n),
			PublicID:    id.Public(fmt.Sprintf("%016d", 900000+n)),
			Scopes:      []string{"publish"},
			CreatedAt:   contract.At(epoch.Add(-72 * time.Hour)),
		}}
		switch n % 3 {
		case 0:
			k.LastUsedAt = &used
		case 1:
			k.ExpiresAt = &over
		case 2:
			k.Revoked = true
		}
		rows = append(rows, k)
	}
	return rows
}

func (server *fakeServer) listKeys(w http.ResponseWriter, r *http.Request) {
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	from, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Query().Get("cursor"), "c"))
	if err != nil || limit < 1 || limit > 100 {
		server.wrong = append(server.wrong, "list-keys: limit "+r.URL.Query().Get("limit"))
	}
	rows := server.keyRows()
	end := min(from+limit, len(rows))
	l := contract.WebKeyList{Items: rows[from:end]}
	if next := fmt.Sprintf("c%d", end); end < len(rows) {
		l.PageInfo = contract.PageInfo{NextCursor: &next, HasMore: true}
	}
	answer(w, 200, l)
}

func (server *fakeServer) revokeKey(w http.ResponseWriter, r *http.Request) {
	for _, made := range server.people.made {
		if string(made.APIKey.ID) == r.PathValue("key") {
			delete(server.people.keys, made.Secret)
			answer(w, 200, contract.RevokedKey{APIKey: made.APIKey, RevokedAt: contract.At(epoch)})
			return
		}
	}
	notFound(w)
}
