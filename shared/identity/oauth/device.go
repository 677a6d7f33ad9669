package oauth

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/text"
)

// Flows stores device authorizations for the person who answers them.
type Flows interface {
	// Add writes a new flow, also under the MAC of its user code. It returns ErrCodeTaken if another flow has that code.
	Add(ctx context.Context, f Flow, mac []byte) error
	// FlowByUserCode reads, with strong consistency, the flow that has one of the MACs. It returns nil if none has.
	FlowByUserCode(ctx context.Context, macs [][]byte) (*Flow, error)
	// Answer writes the person's answer to a pending flow that has not expired, and records the event, in one
	// transaction. It returns ErrGone if the flow is not pending any more or has expired.
	Answer(ctx context.Context, f Flow, e event.Event) error
}

// PollStore stores device authorizations for the device that polls.
type PollStore interface {
	// Flow reads a flow with strong consistency. It returns nil if there is none.
	Flow(ctx context.Context, public id.Public) (*Flow, error)
	// RecordPoll writes the poll tokens of f to a pending flow whose stored ones are those of was. Otherwise it returns
	// false, because another poll or the person's answer came first.
	RecordPoll(ctx context.Context, f, was Flow) (bool, error)
	// Redeem turns an approved flow into a grant in one transaction. It returns ErrGone if that was done before.
	Redeem(ctx context.Context, f Flow, g Grant) error
}

// Answer is the person's answer to a device authorization.
type Answer string

// The answers. Redeemed follows Approved once the device has its tokens.
const (
	Pending  Answer = "pending"
	Approved Answer = "approved"
	Denied   Answer = "denied"
	Redeemed Answer = "redeemed"
)

// Flow is a device authorization (RFC 8628).
type Flow struct {
	Public    id.Public
	Hash      credential.Hash // of the device code
	Client    id.Client
	Device    string // the name that the device gives itself
	Network   string
	Scopes    []credential.Scope
	Answer    Answer
	CreatedAt time.Time
	ExpiresAt time.Time

	Member    id.Member // the member who answered
	Workspace id.Workspace
	Epoch     int64
	SettledAt time.Time

	PollTokens int // polls that may come at once, as of PolledAt
	PolledAt   time.Time
}

// ErrCodeTaken reports a user code that another device has, or had until a short time ago.
var ErrCodeTaken = errors.New("another device has this user code")

// The alphabet and the length of a user code. Limits.Devices and DeviceLife allow at most 4,800 open codes. The five
// guesses of Limits.WrongDevice therefore find one of them with a probability below one in a million.
const (
	userLetters   = "BCDFGHJKLMNPQRSTVWXZ" // no vowels, so no words, and no letters like digits
	userCodeLen   = 8
	userCodeGroup = 4
	codeAttempts  = 3 // user codes to try for one device
)

// newUserCode returns a random code.
func newUserCode() string {
	out := make([]byte, 0, userCodeLen)
	for len(out) < userCodeLen {
		var b [1]byte
		rand.Read(b[:])
		if n := int(b[0]) & 31; n < len(userLetters) { // rejection sampling keeps all letters equally likely
			out = append(out, userLetters[n])
		}
	}
	return string(out)
}

// formatUserCode returns a user code as it is shown.
func formatUserCode(code string) string {
	var parts []string
	for ; len(code) > 0; code = code[userCodeGroup:] {
		parts = append(parts, code[:userCodeGroup])
	}
	return strings.Join(parts, "-")
}

// parseUserCode reads a user code as a person typed it. It ignores letter case and every character but ASCII letters
// and digits. It returns "" for a text that is not a user code.
func parseUserCode(text string) string {
	if len(text) > 200 {
		return ""
	}
	code := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			return r
		}
		return -1
	}, text)
	if len(code) != userCodeLen || strings.Trim(code, userLetters) != "" {
		return ""
	}
	return code
}

// codeMACs returns the MACs under which a user code may be stored: one for each pepper, because a MAC does not name its
// pepper.
func (s *Server) codeMACs(code string) (macs [][]byte) {
	for _, key := range s.Peppers.All() {
		macs = append(macs, codeMAC(key, code))
	}
	return macs
}

func codeMAC(key []byte, code string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte("device user code\x00" + code))
	return m.Sum(nil)
}

// StartDevice begins a device authorization for a first-party client. name is the name that the device gives itself.
func (s *Server) StartDevice(
	ctx context.Context,
	clientID, scope, name string,
	from netip.Addr,
) (contract.DeviceAuthorization, error) {
	if err := s.take(ctx, s.Limits.Device, from); err != nil {
		return contract.DeviceAuthorization{}, err
	}
	c, err := ours(clientID)
	if err != nil {
		return contract.DeviceAuthorization{}, err
	}
	if err := s.Limiter.Take(ctx, s.Limits.Devices, "all"); err != nil {
		return contract.DeviceAuthorization{}, err
	}
	now := s.Now()
	token := credential.Mint(credential.DeviceCode, s.Environment, id.NoWorkspace, "")
	f := Flow{
		Public:     token.Public,
		Hash:       token.Hash(s.Peppers),
		Client:     c.ID,
		Device:     text.DeviceName(name),
		Network:    address.Network(from),
		Scopes:     scopesFor(c, scope),
		Answer:     Pending,
		CreatedAt:  now,
		ExpiresAt:  now.Add(limits.DeviceLife),
		PollTokens: limits.PollBurst,
		PolledAt:   now,
	}
	code, err := s.addFlow(ctx, f)
	if err != nil {
		return contract.DeviceAuthorization{}, err
	}
	page := s.Origins.App + "/device"
	return contract.DeviceAuthorization{
		DeviceCode:              token.Reveal(),
		UserCode:                formatUserCode(code),
		VerificationURI:         page,
		VerificationURIComplete: page + "?" + url.Values{"code": {formatUserCode(code)}}.Encode(),
		ExpiresIn:               contract.Seconds(limits.DeviceLife),
		Interval:                contract.Seconds(limits.PollInterval),
	}, nil
}

// addFlow stores a flow under a user code that no other flow has, and returns the code.
func (s *Server) addFlow(ctx context.Context, f Flow) (code string, err error) {
	_, pepper := s.Peppers.Active()
	for range codeAttempts {
		code = newUserCode()
		if err = s.Flows.Add(ctx, f, codeMAC(pepper, code)); !errors.Is(err, ErrCodeTaken) {
			break
		}
	}
	return code, err
}

// Device returns the content of the page on which a person answers. Every invalid code is the same not_found error. A
// member who typed too many wrong codes gets rate_limited_actor.
func (s *Server) Device(ctx context.Context, by credential.Actor, userCode string) (Device, error) {
	f, err := s.flow(ctx, by, userCode)
	if err != nil {
		return Device{}, err
	}
	return Device{
		Client:    firstParty[f.Client],
		Name:      f.Device,
		Network:   f.Network,
		CreatedAt: f.CreatedAt,
		ExpiresAt: f.ExpiresAt,
	}, nil
}

// ApproveDevice grants the device access in the member's name.
func (s *Server) ApproveDevice(ctx context.Context, by credential.Actor, userCode string) error {
	return s.answerDevice(ctx, by, userCode, Approved, event.DeviceApproved)
}

// DenyDevice refuses the device.
func (s *Server) DenyDevice(ctx context.Context, by credential.Actor, userCode string) error {
	return s.answerDevice(ctx, by, userCode, Denied, event.DeviceDenied)
}

func (s *Server) answerDevice(
	ctx context.Context,
	by credential.Actor,
	userCode string,
	answer Answer,
	action event.Action,
) error {
	f, err := s.flow(ctx, by, userCode)
	if err != nil {
		return err
	}
	f.Answer = answer
	f.Member = by.Member
	f.Workspace = by.Workspace.ID
	f.Epoch = by.Workspace.Epoch
	f.SettledAt = s.Now()
	e := s.record(by.Workspace.ID, event.ByMember(by.Member), action,
		event.Target{Type: event.OnDevice, ID: string(f.Public)}, by.RequestID)
	e.Detail = f.Device
	if err := s.Flows.Answer(ctx, *f, e); errors.Is(err, ErrGone) {
		return errUnknownCode()
	} else if err != nil {
		return err
	}
	return nil
}

// flow reads the pending flow of a user code, and counts every other code as a failure of the member.
func (s *Server) flow(ctx context.Context, by credential.Actor, userCode string) (*Flow, error) {
	if err := requireMember(by); err != nil {
		return nil, err
	}
	if err := s.Limiter.Check(ctx, s.Failures, s.Limits.WrongDevice, string(by.Member)); err != nil {
		return nil, err
	}
	if code := parseUserCode(userCode); code != "" {
		f, err := s.Flows.FlowByUserCode(ctx, s.codeMACs(code))
		if err != nil {
			return nil, err
		}
		if f != nil && f.Answer == Pending && s.Now().Before(f.ExpiresAt) {
			return f, nil
		}
	}
	return nil, cmp.Or(s.Limiter.Take(ctx, s.Limits.WrongDevice, string(by.Member)), errUnknownCode())
}

func errUnknownCode() error {
	return fault.New(fault.NotFound, "no device waits with this code: check the letters, or start again on the device")
}
