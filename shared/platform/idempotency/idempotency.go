// Package idempotency answers a repeated command with its first result, by a record per credential, operation, target
// and client key.
package idempotency

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"vitrine/shared/platform/fault"
)

// Operation names a command, in most cases as the contract does. Renaming one loses its records, because the name is
// part of their keys.
type Operation string

// The commands with an Idempotency-Key.
const (
	CreateSession   Operation = "upload.session.create"
	FinalizeSession Operation = "upload.session.finalize"
	PublishRevision Operation = "artifact.revision.publish"
	RestoreRevision Operation = "web.artifact.revision.restore"
	DeleteArtifact  Operation = "artifact.delete"
	ClaimWorkspace  Operation = "ephemeral.claim"
	UpdateSettings  Operation = "workspace.settings.update"
	CreateExport    Operation = "workspace.export.create"
	CreateKey       Operation = "api_key.create"
	RevokeKey       Operation = "api_key.revoke"
	CreateLink      Operation = "access_link.create"
	LockLinks       Operation = "access_link.lockdown.set"
	UnlockLinks     Operation = "access_link.lockdown.lift"
	PinArtifact     Operation = "web.artifact.pin"
	UnpinArtifact   Operation = "web.artifact.unpin"
	CreateFeedback  Operation = "feedback.create"
	AnswerFeedback  Operation = "feedback.answer"
	DeleteFeedback  Operation = "feedback.delete"
	DeleteMessage   Operation = "feedback.message.delete"
	SetFeedback     Operation = "feedback.policy"
	GuestFeedback   Operation = "feedback.guest"
	SetLockdown     Operation = "platform.lockdown.set"
	LiftLockdown    Operation = "platform.lockdown.lift"
	SetPlan         Operation = "billing.set_plan_override"
	// CreateCheckout has no record, because the payment provider recognises its repetitions.
	CreateCheckout Operation = "billing.checkout.create"
)

// Key identifies a record. It includes the target, because one client key for two artifacts means two commands.
type Key struct {
	Actor     string // credential.Actor's Subject
	Operation Operation
	Target    string
	Client    string
}

// CheckClient refuses a malformed Idempotency-Key.
func CheckClient(key string) error {
	if len(key) < minKeyLength || len(key) > maxKeyLength || strings.ContainsFunc(key, invalidRune) {
		return fault.New(fault.InvalidIdempotencyKey,
			"send the header Idempotency-Key with 8 to 200 characters of A-Z a-z 0-9 . _ : -")
	}
	return nil
}

// minKeyLength and maxKeyLength bound an Idempotency-Key.
const minKeyLength, maxKeyLength = 8, 200

// invalidRune reports whether a character is not allowed in an Idempotency-Key.
func invalidRune(r rune) bool {
	letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	return !letter && !strings.ContainsRune("._:-", r)
}

// Fingerprint tells requests with the same key apart.
type Fingerprint [sha256.Size]byte

// FingerprintOf hashes method, route and the JSON body with sorted keys. A body that is not JSON is hashed as it is.
func FingerprintOf(method, route string, body []byte) Fingerprint {
	var v any
	canonical := bytes.TrimSpace(body)
	if d := json.NewDecoder(bytes.NewReader(canonical)); len(canonical) > 0 {
		d.UseNumber() // a float64 would make large numbers equal that differ
		if d.Decode(&v) == nil {
			canonical, _ = json.Marshal(v)
		}
	}
	h := sha256.New()
	h.Write([]byte(method + " " + route + "\x00"))
	h.Write(canonical)
	return Fingerprint(h.Sum(nil))
}

// Command is one attempt of a command: its key and the fingerprint of its request.
type Command struct {
	Key         Key
	Fingerprint Fingerprint
}

// Record is what the store keeps of a command.
type Record struct {
	Fingerprint Fingerprint
	Done        bool
	Lease       time.Time // when an attempt in flight may be taken over
	Result      []byte    // the result of a finished attempt; ids and facts, no secret and no signed URL
	Expires     time.Time
}

// Finished reports whether the record answers a repetition at now. It compares the time itself, because the table may
// delete expired records late.
func (r *Record) Finished(now time.Time) bool { return r != nil && r.Done && now.Before(r.Expires) }

// Encode packs the result of a command for its record. It panics on a type that JSON cannot hold.
func Encode(result any) []byte {
	packed, err := json.Marshal(result)
	if err != nil {
		panic(err)
	}
	return packed
}

// Compare refuses a command that has the key of the record but another request.
func (r *Record) Compare(c Command) error {
	if r.Fingerprint != c.Fingerprint {
		return fault.New(fault.InvalidIdempotencyKey, "this Idempotency-Key was used for another request; use a new one")
	}
	return nil
}

// Replay unpacks the first result into out. It fails like Compare.
func (r *Record) Replay(c Command, out any) error {
	if err := r.Compare(c); err != nil {
		return err
	}
	return json.Unmarshal(r.Result, out)
}

// First is Replay with the result as a return value.
func First[T any](r *Record, c Command) (first T, err error) {
	err = r.Replay(c, &first)
	return first, err
}

// AlreadyDone reports that another attempt holds or finished the command. Record is the one that the other wrote.
type AlreadyDone struct {
	Record Record
}

// Error describes the refusal.
func (d *AlreadyDone) Error() string { return "the idempotency key is taken" }

// lost resolves a failed commit. It returns the record to replay if another attempt finished the command, inFlight
// while another attempt holds it, and err otherwise.
func lost(err error, now time.Time) (finished *Record, _ error) {
	var taken *AlreadyDone
	switch {
	case !errors.As(err, &taken):
		return nil, err
	case taken.Record.Finished(now):
		return &taken.Record, nil
	}
	return nil, inFlight()
}

// inFlight returns the refusal while another attempt runs.
func inFlight() error {
	return fault.New(fault.IdempotencyInFlight,
		"the same request is still running; repeat it with the same Idempotency-Key in a moment")
}
