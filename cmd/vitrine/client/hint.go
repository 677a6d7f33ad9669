package client

import (
	"regexp"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// subject is what a call is about. It selects the hint for a refusal.
type subject uint8

const (
	aboutPublish  subject = iota // a publish and what belongs to it
	aboutArtifact                // an existing artifact
	aboutLink                    // a link by its ID
	aboutShare                   // a share URL
	aboutFile                    // a file by its signed URL
	aboutKey                     // an API key of the workspace
	aboutClaim                   // a claim token
)

// NoArtifact is the hint when a publish finds no artifact to revise.
const NoArtifact = "Check the id of the artifact, and that the credential is of its workspace; without " +
	"--artifact-id a new one is created."

const noFile = "vitrine show with the id of the artifact lists its files."

// notFoundHints are the hints when the server does not know a subject.
var notFoundHints = map[subject]string{
	aboutPublish:  "Check that VITRINE_URL names a Vitrine server.",
	aboutArtifact: "Check the id, and that the credential is of its workspace; vitrine list shows the artifacts.",
	aboutLink: "Check the id of the link, and that it was not revoked; vitrine link list with the id of the " +
		"artifact shows it.",
	aboutShare: "The link was revoked, or it is incomplete: it ends with # and some 75 characters. Ask for a new one.",
	aboutKey:   "Check the id of the API key; vitrine keys list shows it.",
	aboutClaim: "The claim token expired, was used already, or is incomplete; ask for what it was to bring again.",
	aboutFile:  "Run the command again; the file may have been deleted meanwhile.",
}

// hint returns what to do about a refusal.
func hint(f *failure.Failure, k call) string {
	switch f.Code {
	case fault.WriteAllowanceExceeded:
		return "The workspace has used up what it may publish and upload today; the next day starts at 00:00 UTC."
	case fault.RevisionCeilingExceeded:
		return "The artifact takes no more revisions; publish a new one: vitrine publish PATH, without --artifact-id"
	case fault.ArtifactNotFound:
		if k.about == aboutPublish {
			return NoArtifact
		}
	case fault.UploadIncomplete:
		return "That file did not arrive; run the command again."
	case fault.DraftRevisionConflict:
		if k.artifact != "" {
			return draftHint(f.Message, k.artifact)
		}
	case fault.IdempotencyInFlight:
		return "The server is still processing an earlier attempt; run the command again in two minutes."
	case fault.UploadSessionExpired, fault.UploadSessionNotFound:
		return "The upload took longer than the server waits for one; run the command again, with fewer files if necessary."
	case fault.PinnedArtifactCap:
		return "Unpin another artifact first: vitrine unpin with its id."
	case fault.RevisionRetained:
		return "The bytes of that revision are gone; vitrine revisions lists those that are published."
	case fault.FileCountCapExceeded, fault.FileSizeCapExceeded, fault.RevisionSizeCapExceeded:
		return "Publish fewer or smaller files; vitrine whoami shows the limits of your workspace."
	}
	return hintByExit(f, k)
}

func hintByExit(f *failure.Failure, k call) string {
	switch f.Exit {
	case failure.Auth:
		return credentialHint(k)
	case failure.Quota:
		if f.RetryAfter > 0 {
			return "Run the command again in " + f.RetryAfter.String() + "."
		}
		return "Run the command again later."
	case failure.Server:
		return "The server has trouble; run the command again in a minute, and report the request id if it fails again."
	case failure.NotFound:
		return notFoundHints[k.about]
	case failure.Invalid:
		if k.about == aboutPublish {
			return "Correct what the message names; vitrine help publish says what is accepted."
		}
		return "Correct what the message names; vitrine help lists the commands, vitrine help COMMAND their arguments."
	case failure.Conflict:
		return "It was changed at the same time; run the command again."
	}
	return "Check that VITRINE_URL names a Vitrine server by its final address."
}

var revisionForm = regexp.MustCompile(`\brev_[0-9A-HJKMNP-TV-Z]{26}\b`)

// draftHint returns the hint for an artifact that has a draft. The message may contain the draft's ID.
func draftHint(message string, artifact id.Artifact) string {
	const either = "If it is being published just now, run the command again; if the draft is unfinished, " +
		"publish it: "
	if draft := revisionForm.FindString(message); draft != "" {
		return either + "vitrine restore " + string(artifact) + " " + draft
	}
	return either + "vitrine restore with its id, which is in vitrine revisions " + string(artifact)
}

// credentialHint returns the hint for a missing or refused credential.
func credentialHint(k call) string {
	switch {
	case k.about == aboutFile:
		return notFoundHints[aboutFile]
	case k.bearer == "" && k.path == provisionPath:
		return "Sign in: vitrine login, or vitrine login --device-code without a browser; then publish without --ephemeral."
	case k.bearer == "":
		return "The server refuses this call without an account; ask its operator."
	case k.about == aboutPublish:
		return "Set VITRINE_API_KEY to a valid key with the right to publish, or publish without one where the server allows it: --ephemeral."
	}
	return "Set VITRINE_API_KEY to a valid key of the workspace, or unset it and sign in: vitrine login."
}
