package limits

import "time"

// Rate is how many events of a subject are allowed in a window.
type Rate struct {
	Limit   int
	Window  time.Duration
	Counter string // part of the key of the stored counter; empty: the record of the subject holds the count
	Events  string // what is counted, as it follows "too many" in a refusal
}

// setRates sets the published rates. A Counter never changes, because it is part of stored keys.
func (l *Limits) setRates() {
	l.Actor = Rate{120, time.Minute, "actor", "requests with this credential"}
	l.Workspace = Rate{600, time.Minute, "workspace", "requests of this workspace"}
	l.Live = Rate{6000, time.Minute, "live", "polls of this artifact"}
	l.Refused = Rate{60, time.Minute, "refused", "refused reads with this address"}
	l.ProvisionAddress = Rate{10, time.Minute, "address", "new workspaces from your network"}
	l.ProvisionGlobal = Rate{300, time.Minute, "provision", "new workspaces"}
	l.ClaimStart = Rate{Limit: 5, Window: 10 * time.Minute}
	l.Exchange = Rate{Limit: 30, Window: time.Hour}
	l.Assertion = Rate{60, time.Hour, "assertion", "assertions from your network"}
	l.Assertions = Rate{1000, time.Hour, "vouched", "assertions"}
	l.Vouched = Rate{30, time.Minute, "vouched", "assertions of this provider"}
	l.Event = Rate{120, time.Minute, "event", "security events of this provider"}
	l.EventFailure = Rate{60, time.Minute, "event failure", "refused events from your network"}
	l.Guest = Rate{600, time.Minute, "guest", "requests from your network"}
	l.TokenFailure = Rate{60, time.Minute, "token", "refused requests from your network"}
	l.Revocation = Rate{60, time.Minute, "revoke", "revocations from your network"}
	l.WrongCode = Rate{10, 10 * time.Minute, "agentcode", "wrong codes"}
	l.WrongDevice = Rate{5, 10 * time.Minute, "devicecode", "wrong codes"}
	l.SignIn = Rate{60, time.Minute, "signin", "sign-ins from your network"}
	l.Authorize = Rate{60, time.Minute, "authorize", "requests to connect an app from your network"}
	l.Registration = Rate{60, time.Hour, "client", "apps registered from your network"}
	l.Unserved = Rate{30, time.Minute, "unserved", "requests from your network"}
	l.Clients = Rate{3600, time.Hour, "clients", "registrations of apps"}
	l.Document = Rate{20, time.Minute, "document", "new apps from your network"}
	l.Documents = Rate{60, time.Minute, "documents", "new apps"}
	l.Device = Rate{30, time.Minute, "device", "devices that ask for access from your network"}
	l.Devices = Rate{300, time.Minute, "devices", "devices that ask for access"}
	l.Report = Rate{10, 10 * time.Minute, "report", "reports from your network"}
	l.Reports = Rate{300, 10 * time.Minute, "reports", "reports"}
	l.Download = Rate{120, time.Hour, "cli", "downloads of the CLI from your network"}
	l.Feedback = Rate{60, time.Minute, "feedback", "changes of what is written about this artifact"}
	l.Letter = Rate{10, time.Hour, "letter", "messages from your network by this link"}
	l.Letters = Rate{100, Day, "letters", "messages of guests about this artifact"}
	l.Correspondence = Rate{30, time.Minute, "letterbox", "looks at messages by this link from your network"}
	l.Exports = Rate{5, Day, "export", "exports of this workspace"}
}
