package dynamo

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"time"

	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/rate"
)

// rateKey names a counter: kind, host, subject and the window's start in milliseconds.
func rateKey(w rate.Window) string {
	return "r:" + w.Kind + ":" + w.Host + ":" + w.Subject + ":" + strconv.FormatInt(w.Start.UnixMilli(), 10)
}

// streamKey names the streams of a subject.
func streamKey(s rate.Stream) string { return "r:stream:" + s.Kind + ":" + s.Subject }

func nonceKey(nonce string) string { return "n:" + nonce }

// tokenKey names a token of a provider of agents by its kind, issuer and jti.
func tokenKey(p delegation.Proof) string {
	return "j:" + string(p.Kind) + ":" + digest(p.Issuer+"\n"+p.ID)
}

func proofKey(p oauth.Proof) string { return "p:" + p.Digest }

// allowanceKey names a counter of the artifacts that a workspace published first on a day.
func allowanceKey(w id.Workspace, day time.Time, shard int) string { return dayKey("d", w, day, shard) }

// byteAllowanceKey names a counter of the bytes that a workspace declared for upload on a day.
func byteAllowanceKey(w id.Workspace, day time.Time, shard int) string {
	return dayKey("b", w, day, shard)
}

func dayKey(kind string, w id.Workspace, day time.Time, shard int) string {
	return fmt.Sprintf("%s:%s:%s:%d", kind, w, day.UTC().Format("20060102"), shard)
}

// recordKey hashes what the client chose, including the target in the path, so that no text of a client becomes a key.
func recordKey(k idempotency.Key) string {
	sum := sha256.Sum256([]byte(k.Target + "\x00" + k.Client)) // a client key holds no NUL
	return fmt.Sprintf("i:%s:%s:%s", k.Actor, k.Operation, base64.RawURLEncoding.EncodeToString(sum[:]))
}
