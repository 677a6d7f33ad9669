package dynamo

import (
	"crypto/sha256"

	"vitrine/shared/entry/agentauth"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/signin"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
)

// What the items of vouched agents hold.

var goldenPrincipal = delegation.Principal{
	Issuer:   "https://agents.example",
	Subject:  "agent-subject-1",
	Audience: "https://api.example",
}

var goldenDelegation = delegation.Delegation{
	Principal:  goldenPrincipal,
	Generation: 3,
	Workspace:  goldenHome,
	Member:     goldenMemberA,
	Epoch:      2,
	Provider:   "Agents Inc",
	Email:      "ada@example.org",
	Scopes:     goldenScopes,
	CreatedAt:  goldenAt(0),
	SeenAt:     goldenAt(1),
}

// goldenTombstone is a delegation that was revoked before it was made.
var goldenTombstone = delegation.Delegation{
	Principal:  delegation.Principal{Issuer: "https://agents.example", Subject: "agent-subject-2", Audience: "https://api.example"},
	Generation: 1,
	EndedAt:    goldenAt(2),
}

var goldenVouched = agentauth.Registration{
	ID:          id.RegistrationOf(goldenOther),
	Kind:        agentauth.Provider,
	State:       agentauth.Verified,
	Generation:  1,
	Version:     1,
	Workspace:   goldenHome,
	Member:      goldenMemberA,
	Claim:       goldenOther,
	CreatedAt:   goldenAt(0),
	ExpiresAt:   goldenAt(60),
	CompletedAt: goldenAt(0),
	Network:     "203.0.113.0/24",
	Link:        3,
	Vouched: agentauth.Vouched{
		Principal: goldenPrincipal,
		Provider:  "Agents Inc",
		Email:     "ada@example.org",
		Scopes:    goldenScopes,
	},
}

var goldenEndedWorkspace = workspace.Workspace{
	ID:         "22222222-11b4-4627-9faf-0318b6bcea69",
	Name:       "Agents",
	Plan:       workspace.FreePlan,
	CreatedAt:  goldenAt(0),
	ClaimedAt:  goldenAt(0),
	Epoch:      2,
	EndedTerms: []workspace.EndedTerm{{Term: goldenDelegation.Term(), At: goldenAt(1)}, {Term: goldenTombstone.Term(), At: goldenAt(2)}},
}

var goldenQuestion = signin.Question{
	Secret: session.Hash(sha256.Sum256([]byte("question"))),
	Who: member.Identity{
		Issuer:          goldenIssuer,
		Subject:         "subject-2",
		Email:           "Ada@example.org",
		AuthenticatedAt: goldenAt(0),
		Operator:        true,
	},
	Member:    goldenMemberA,
	Workspace: goldenHome,
	ReturnTo:  "/dashboard",
	ExpiresAt: goldenAt(10),
}

var goldenProof = delegation.Proof{
	Kind:   delegation.Event,
	Issuer: "https://agents.example",
	ID:     "jti-1",
	Digest: sha256.Sum256([]byte("event")),
	Until:  goldenAt(30),
}
