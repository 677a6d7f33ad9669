package dynamo

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"vitrine/shared/identity/billing"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/identity/session"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/abuse"
	"vitrine/shared/publishing/lockdown"
	"vitrine/shared/publishing/tree"
)

// This file is the only place that spells a key, besides the queues in due.go. Tables core and events have pk and sk, hot has pk alone.
//
//	core    W#{ws}    META            workspace
//	        W#{ws}    FENCE#{0..7}    write fence; normally absent, present it closes the workspace for writing
//	        K#{pub}   K               API key
//	        CT#{pub}  C               claim token
//	        U#{upl}   META            upload session, with its entries if they are few
//	        U#{upl}   MAN             its entries otherwise
//	        A#{art}   META            artifact
//	        A#{art}   R#{rev}         revision, with its files if they are few
//	        A#{art}   M#{rev}         its files otherwise
//	        FB#{art}  F               counts and settings of the feedback of an artifact, in the inbox of its workspace while
//	                                  a thread is open; T#{thr} thread, due while it is deleted and may have messages;
//	                                  N#{thr}#{n} message of one; S#{seq} which thread was changed then
//	        AL#{pub}  L               access link
//	        W#{ws}    ALIAS#{src}     workspace that was claimed into this one, until its artifacts are moved
//	        JOB#MIGRATE#{src}  J      the move of its artifacts
//	        B#{home}#{sha}#{size}  H  where a home has these bytes
//	        O#{upl}#{n}  R#{rev}      reference of a revision to an object that it did not bring
//	        JOB#DELETE#{upl}  J       objects of a session without a reference, until they are deleted; of one object in
//	                                  older items, which end with #{n}
//	        JOB#REMOVE#{ws}  J        removal of a workspace that is being deleted
//	        W#{ws}    BILL            what it pays: customer, subscription and an operator's plan
//	        BC#{customer}  C          workspace of a customer at the payment provider
//	        BE#{event}  E             event of the payment provider, under way or processed
//	        W#{ws}    PINS            how many artifacts it has pinned
//	        W#{ws}    KEYS            which API keys of members live in it
//	        W#{ws}    EXPORT          its newest export; EXPORT#{exp} one that was replaced, until its archives are
//	                                  deleted; EXPORT#{exp}#{n} artifacts that an export has
//	        W#{ws}    MEM#{mem}       member
//	        W#{ws}    SIGNIN          what the identity provider said of each member at the last sign-in
//	        IDP#{sha}  U              member of an identity provider's user
//	        EML#{sha}  E              members with an e-mail address
//	        REG#{reg}  R              registration of an agent
//	        DEL#{sha}  D              delegation of a person at a provider of agents
//	        CRED#{pub}  {kind}        what an OAuth client holds: G grant with its tokens, DC device code,
//	                                  AC authorization code
//	        UC#{sha}  DC              device code of what a person types
//	        OAR#{sha}  A              open consent page
//	        OCL#{id}  C               OAuth client; OCL#{sha} of one whose id is the URL of a metadata document
//	        SES#{sha}  S              browser session, listed for its member
//	        LTX#{sha}  L              sign-in under way; T one that waits for the person to keep agents or not
//	        CFG#provision  C          quota of ephemeral workspaces
//	        CFG#copy  C               when the data was last copied
//	        LOCK#{scope}#{id}  EFF    operator lockdown in effect; H#{lkd} one that was lifted
//	        RPT#{art}  {yyyymmdd}#{address}  report of abuse, by the hash of the network that it came from
//	events  W#{ws}    {ms13}#{evt}
//	hot     r:…  rate counter    d:…  daily allowance of new artifacts    b:…  daily allowance of bytes
//	        i:…  idempotency record    n:…  burnt nonce    p:…  ID token that was exchanged
//	        j:…  token of a provider of agents that was used
//	        r:stream:…  large bodies that are being sent
//	        r:hot:{ms}  artifacts that were read often, in ten minutes
//
// Index gsi1 (g1p, g1s) lists what belongs to a workspace or an artifact, in table events what was done on a day, and
// gsi2 (g2p, g2s) lists what falls due, and the links of an artifact, by their keys alone.

const (
	metaSort = "META"
	fences   = 8
)

type key struct{ pk, sk string }

func workspaceKey(w id.Workspace) key { return key{"W#" + string(w), metaSort} }

func fenceKey(w id.Workspace, n int) key {
	return key{"W#" + string(w), "FENCE#" + strconv.Itoa(n)}
}

func apiKeyKey(p id.Public) key { return key{"K#" + string(p), "K"} }

func claimTokenKey(p id.Public) key { return key{"CT#" + string(p), "C"} }

func uploadKey(s id.Session) key { return key{"U#" + string(s), metaSort} }

func entriesKey(s id.Session) key { return key{"U#" + string(s), "MAN"} }

func artifactKey(a id.Artifact) key { return key{"A#" + string(a), metaSort} }

func revisionKey(a id.Artifact, r id.Revision) key { return key{"A#" + string(a), "R#" + string(r)} }

func treeKey(a id.Artifact, r id.Revision) key { return key{"A#" + string(a), "M#" + string(r)} }

// The sort keys of feedback order numbers by their digits.
const (
	placePrefix      = "S#"
	heldPrefix       = "H#"
	maxSeq           = 999_999_999_999
	maxMessageNumber = 999
)

func feedbackOf(a id.Artifact) string { return "FB#" + string(a) }

func countsKey(a id.Artifact) key { return key{feedbackOf(a), "F"} }

func threadKey(a id.Artifact, t id.Thread) key { return key{feedbackOf(a), "T#" + string(t)} }

func messageKey(a id.Artifact, t id.Thread, n int) key {
	return key{feedbackOf(a), fmt.Sprintf("N#%s#%03d", t, n)}
}

// placeKey names the place of a change in the order of changes.
func placeKey(a id.Artifact, seq int64) key {
	return key{feedbackOf(a), fmt.Sprintf("%s%012d", placePrefix, seq)}
}

// heldKey names what a guest wrote as the numbered one about the artifact.
func heldKey(a id.Artifact, n int64) key {
	return key{feedbackOf(a), fmt.Sprintf("%s%012d", heldPrefix, n)}
}

func linkKey(p id.Public) key { return key{"AL#" + string(p), "L"} }

func aliasKey(dest, src id.Workspace) key { return key{"W#" + string(dest), "ALIAS#" + string(src)} }

func migrationKey(src id.Workspace) key { return key{"JOB#MIGRATE#" + string(src), "J"} }

const contentPrefix = "B#"

func contentKey(home id.Workspace, c tree.Content) key {
	return key{fmt.Sprintf("%s%s#%s#%d", contentPrefix, home, c.SHA256, c.Size), "H"}
}

// parseContentKey decodes what contentKey encoded.
func parseContentKey(k key) (home id.Workspace, c tree.Content, ok bool) {
	parts := strings.Split(strings.TrimPrefix(k.pk, contentPrefix), "#")
	if len(parts) != 3 {
		return home, c, false
	}
	var err error
	c.SHA256, ok = tree.ParseDigest(parts[1])
	c.Size, err = strconv.ParseInt(parts[2], 10, 64)
	return id.Workspace(parts[0]), c, ok && err == nil
}

func referenceKey(o tree.Object, r id.Revision) key {
	return key{"O#" + objectName(o), "R#" + string(r)}
}

const deletionPrefix = "JOB#DELETE#"

func deletionKey(u id.Session) key { return key{deletionPrefix + string(u), "J"} }

// objectName encodes an object for keys and attributes. readObject decodes it.
func objectName(o tree.Object) string { return string(o.Session) + "#" + strconv.Itoa(o.Entry) }

func readObject(name string) (o tree.Object) {
	session, entry, _ := strings.Cut(name, "#")
	o.Session = id.Session(session)
	o.Entry, _ = strconv.Atoi(entry)
	return o
}

func removalKey(w id.Workspace) key { return key{"JOB#REMOVE#" + string(w), "J"} }

func memberKey(w id.Workspace, m id.Member) key { return key{"W#" + string(w), "MEM#" + string(m)} }

func signInsKey(w id.Workspace) key { return key{"W#" + string(w), "SIGNIN"} }

// identityKey hashes what the provider chose, so that no foreign text becomes a key.
func identityKey(issuer, subject string) key { return key{"IDP#" + digest(issuer+"\n"+subject), "U"} }

// addressKey hashes an address, so that no foreign text becomes a key.
func addressKey(a member.Address) key { return key{"EML#" + digest(string(a)), "E"} }

func delegationKey(d id.Delegation) key { return key{"DEL#" + string(d), "D"} }

func registrationKey(r id.Registration) key { return key{"REG#" + string(r), "R"} }

func grantKey(p id.Public) key { return key{"CRED#" + string(p), "G"} }

func deviceKey(p id.Public) key { return key{"CRED#" + string(p), "DC"} }

func codeKey(p id.Public) key { return key{"CRED#" + string(p), "AC"} }

// userCodeKey names a device by the hash of its code.
func userCodeKey(mac []byte) key { return key{"UC#" + base64.RawURLEncoding.EncodeToString(mac), "DC"} }

func consentKey(request string) key { return key{"OAR#" + digest(request), "A"} }

// clientKey hashes the ID if the client chose it.
func clientKey(c id.Client) key {
	if !c.Valid() {
		return key{"OCL#" + digest(string(c)), "C"}
	}
	return key{"OCL#" + string(c), "C"}
}

func sessionKey(h session.Hash) key {
	return key{"SES#" + base64.RawURLEncoding.EncodeToString(h[:]), "S"}
}

// hashIn decodes what sessionKey encoded.
func hashIn(k key) (h session.Hash) {
	raw, _ := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(k.pk, "SES#"))
	copy(h[:], raw)
	return h
}

func signInKey(state string) key { return key{"LTX#" + digest(state), "L"} }

func takeoverKey(h session.Hash) key {
	return key{"LTX#" + base64.RawURLEncoding.EncodeToString(h[:]), "T"}
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func lockdownKey(s lockdown.Scope, target string) key {
	return key{"LOCK#" + string(s) + "#" + target, "EFF"}
}

func liftedKey(l lockdown.Lockdown) key {
	return key{lockdownKey(l.Scope, l.Target).pk, "H#" + string(l.ID)}
}

// reportKey names the one report that a reporter has for an artifact on a UTC day.
func reportKey(r abuse.Report) key {
	return key{reportsOf(r.Artifact), r.Place()}
}

// reportsOf names the partition of the reports of an artifact.
func reportsOf(a id.Artifact) string { return "RPT#" + string(a) }

// exportKey names the newest export of a workspace.
func exportKey(w id.Workspace) key { return key{"W#" + string(w), "EXPORT"} }

func replacedExportKey(w id.Workspace, e id.Export) key {
	return key{"W#" + string(w), "EXPORT#" + string(e)}
}

func exportListKey(w id.Workspace, e id.Export, part int) key {
	return key{"W#" + string(w), "EXPORT#" + string(e) + "#" + strconv.Itoa(part)}
}

func billingKey(w id.Workspace) key { return key{"W#" + string(w), "BILL"} }

func customerKey(c billing.CustomerID) key { return key{"BC#" + string(c), "C"} }

func billingEventKey(e billing.EventID) key { return key{"BE#" + string(e), "E"} }

func quotaKey() key { return key{"CFG#provision", "C"} }

func copyKey() key { return key{"CFG#copy", "C"} }

func eventKey(w id.Workspace, at time.Time, e id.Event) key {
	return key{"W#" + string(w), timeKey(at, e)}
}

// eventShards is the number of partitions of the index that share the events of a day. Each takes a part of the writes
// of all tenants.
const eventShards = 4

// eventsOn names a partition of the events of all workspaces on a UTC day.
func eventsOn(day time.Time, part int) string {
	return "D#" + day.UTC().Format("20060102") + "#" + strconv.Itoa(part)
}

func eventShard(e id.Event) int { return int(sha256.Sum256([]byte(e))[0]) % eventShards }

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

// partitionID returns the ID at the end of a partition's name.
func partitionID[ID ~string](k key) ID { return ID(k.pk[strings.LastIndexByte(k.pk, '#')+1:]) }

// sortID returns the ID that a sort key ends with, after its kind; empty if there is none.
func sortID[ID ~string](k key) ID {
	_, inner, _ := strings.Cut(k.sk, "#")
	return ID(inner)
}

// Partitions of gsi1.
func artifactsOf(w id.Workspace) string { return "W#" + string(w) + "#ART" }

func deletedOf(w id.Workspace) string { return "W#" + string(w) + "#GONE" }

func keysOf(w id.Workspace) string { return "W#" + string(w) + "#KEY" }

// revokedKeysOf lists the API keys that were revoked. Keys that older code revoked are still in keysOf.
func revokedKeysOf(w id.Workspace) string { return "W#" + string(w) + "#KEY#REVOKED" }

// liveKeysKey names the item that counts the live API keys of a workspace's members.
func liveKeysKey(w id.Workspace) key { return key{"W#" + string(w), "KEYS"} }

func registrationsOf(w id.Workspace) string { return "W#" + string(w) + "#REG" }

func delegationsOf(w id.Workspace) string { return "W#" + string(w) + "#DEL" }

func grantsOf(w id.Workspace) string { return "W#" + string(w) + "#GRANT" }

// pinsKey names the counter of what a workspace has pinned.
func pinsKey(w id.Workspace) key { return key{"W#" + string(w), "PINS"} }

// sessionsOf lists the browser sessions of a member, except for those that older code began.
func sessionsOf(w id.Workspace, m id.Member) string { return "W#" + string(w) + "#SES#" + string(m) }

func linksOf(w id.Workspace) string { return "W#" + string(w) + "#L" }

// openThreadsOf lists the counts of artifacts with open threads.
func openThreadsOf(w id.Workspace) string { return "W#" + string(w) + "#FB" }

// The lists of lockdowns: those in effect, and those that were lifted.
const lockdowns, lifted = "LOCKS", "LOCKS#LIFTED"

// reports lists the reports of abuse of all artifacts.
const reports = "REPORTS"

// linksOfArtifact names the partition of gsi2 with the links of an artifact.
func linksOfArtifact(a id.Artifact) string { return "A#" + string(a) + "#L" }

// timeKey returns a sort key that orders a partition by instant, then by name.
func timeKey[name ~string](at time.Time, n name) string { return millisKey(at) + "#" + string(n) }

// linkSort orders the links of a workspace by when they were made. It ends with the artifact, because older indexes
// carry that nowhere else.
func linkSort(made time.Time, p id.Public, a id.Artifact) string {
	return timeKey(made, p) + "#" + string(a)
}

// parseTimeKey decodes what timeKey encoded.
func parseTimeKey[name ~string](s string) (time.Time, name) {
	at, n, _ := strings.Cut(s, "#")
	return parseMillis(at), name(n)
}

// linkedArtifact returns the artifact in a linkSort. Sort keys of older rows begin with the artifact.
func linkedArtifact(sort string) (a id.Artifact) {
	for _, part := range strings.Split(sort, "#") {
		if strings.HasPrefix(part, "art_") {
			a = id.Artifact(part)
		}
	}
	return a
}

// grantSort orders the grants of a workspace by member, then age.
func grantSort(g oauth.Grant) string {
	return grantsOfMember(g.Member) + timeKey(g.CreatedAt, g.Public)
}

// grantsOfMember returns the prefix of a member's keys in grantSort.
func grantsOfMember(m id.Member) string { return string(m) + "#" }

// millisKey formats an instant as 13 digits of milliseconds, so that keys sort by time.
func millisKey(t time.Time) string { return fmt.Sprintf("%013d", t.UnixMilli()) }

// parseMillis decodes what millisKey encoded.
func parseMillis(s string) time.Time {
	ms, _ := strconv.ParseInt(s, 10, 64)
	return time.UnixMilli(ms).UTC()
}
