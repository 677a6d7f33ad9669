package oauth

import (
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
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/text"
)

// Flows keeps device authorizations for the person who answers them.
type Flows interface {
	// AddFlow writes a new flow under the MAC of its user code too.
	AddFlow(ctx context.Context, f Flow, mac []byte) error
	// FlowOf finds, strongly, the flow that has one of the MACs; nil if none has.
	FlowOf(ctx context.Context, macs [][]byte) (*Flow, error)
	// AnswerDevice writes the answer of a person to a flow that waits for it and has not expired, with the event, in one
	// transaction; ErrGone if it does not wait any more.
	AnswerDevice(ctx context.Context, f Flow, e event.Event) error
}

// PollStore keeps them for the device that asks.
type PollStore interface {
	// Flow reads a flow, strongly; nil if there is none.
	Flow(ctx context.Context, public id.Public) (*Flow, error)
	// RecordPoll writes how many polls are left of f and since when, if that is still as it was; false: another poll came first.
	RecordPoll(ctx context.Context, f, was Flow) (bool, error)
	// RedeemFlow turns an approved flow into a grant in one transaction; ErrGone if that was done before.
	RedeemFlow(ctx context.Context, f Flow, g Grant) error
}

// Answer is what became of a device authorization.
type Answer string

// The answers.
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
	Device    string // what the device calls itself
	Network   string
	Scopes    []credential.Scope
	Answer    Answer
	CreatedAt time.Time
	ExpiresAt time.Time

	Member    id.Member // who answered
	Workspace id.Workspace
	Epoch     int64
	SettledAt time.Time

	PollTokens int // polls that may come at once, as of PolledAt
	PolledAt   time.Time
}

const (
	userLetters   = "BCDFGHJKLMNPQRSTVWXZ" // no vowels, so no words, and nothing that looks like a digit
	userCodeLen   = 20
	userCodeGroup = 4
)

// newUserCode are 86 random bits.
func newUserCode() string {
	out := make([]byte, 0, userCodeLen)
	for len(out) < userCodeLen {
		var b [1]byte
		rand.Read(b[:])
		if n := int(b[0]) & 31; n < len(userLetters) { // rejection keeps all letters equally likely
			out = append(out, userLetters[n])
		}
	}
	return string(out)
}

// grouped is a user code as people see it.
func grouped(code string) string {
	var parts []string
	for ; len(code) > 0; code = code[userCodeGroup:] {
		parts = append(parts, code[:userCodeGroup])
	}
	return strings.Join(parts, "-")
}

// typed reads what a person typed: letter case and everything but ASCII letters and digits are left out; "" if that is
// no user code.
func typed(text string) string {
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

// codeMACs are what the store may know a user code by: one for each pepper.
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

// StartDevice begins a device authorization for one of our own clients. name is what the device calls itself.
func (s *Server) StartDevice(ctx context.Context, clientID, scope, name string, from netip.Addr) (contract.DeviceAuthorization, error) {
	if err := s.limit(ctx, "device", from, s.Limits.Device); err != nil {
		return contract.DeviceAuthorization{}, err
	}
	c, err := ours(clientID)
	if err != nil {
		return contract.DeviceAuthorization{}, err
	}
	now := s.Now()
	token := credential.Mint(credential.DeviceCode, s.Environment, id.NoWorkspace, "")
	code := newUserCode()
	_, pepper := s.Peppers.Active()
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
	if err := s.Flows.AddFlow(ctx, f, codeMAC(pepper, code)); err != nil {
		return contract.DeviceAuthorization{}, err
	}
	page := s.Origins.App + "/device"
	return contract.DeviceAuthorization{
		DeviceCode:              token.Reveal(),
		UserCode:                grouped(code),
		VerificationURI:         page,
		VerificationURIComplete: page + "?" + url.Values{"code": {grouped(code)}}.Encode(),
		ExpiresIn:               contract.Seconds(limits.DeviceLife),
		Interval:                contract.Seconds(limits.PollInterval),
	}, nil
}

// Device is what a person sees before they answer. All that is wrong with a code is one not_found; a member who typed too
// many wrong ones has to wait.
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

// ApproveDevice lets the device in, in the member's name.
func (s *Server) ApproveDevice(ctx context.Context, by credential.Actor, userCode string) error {
	return s.settle(ctx, by, userCode, Approved, event.DeviceApproved)
}

// DenyDevice turns the device away.
func (s *Server) DenyDevice(ctx context.Context, by credential.Actor, userCode string) error {
	return s.settle(ctx, by, userCode, Denied, event.DeviceDenied)
}

func (s *Server) settle(ctx context.Context, by credential.Actor, userCode string, answer Answer, action event.Action) error {
	f, err := s.flow(ctx, by, userCode)
	if err != nil {
		return err
	}
	f.Answer = answer
	f.Member = by.Member
	f.Workspace = by.Workspace.ID
	f.Epoch = by.Workspace.Epoch
	f.SettledAt = s.Now()
	e := s.record(by.Workspace.ID, event.ByMember(by.Member), action, event.Target{Type: event.OnDevice, ID: string(f.Public)}, by.RequestID)
	e.Detail = f.Device
	if err := s.Flows.AnswerDevice(ctx, *f, e); errors.Is(err, ErrGone) {
		return unknownCode()
	} else if err != nil {
		return err
	}
	return nil
}

// flow finds the flow that a person means, and counts those that there are not.
func (s *Server) flow(ctx context.Context, by credential.Actor, userCode string) (*Flow, error) {
	if err := person(by); err != nil {
		return nil, err
	}
	if err := s.guesses().Allow(ctx, by.Member); err != nil {
		return nil, err
	}
	if code := typed(userCode); code != "" {
		f, err := s.Flows.FlowOf(ctx, s.codeMACs(code))
		if err != nil {
			return nil, err
		}
		if f != nil && f.Answer == Pending && s.Now().Before(f.ExpiresAt) {
			return f, nil
		}
	}
	return nil, s.guesses().Record(ctx, by.Member, unknownCode())
}

// guesses counts the codes that a member typed wrong.
func (s *Server) guesses() rate.FailureLimiter {
	return rate.FailureLimiter{Limiter: s.Limiter, Counter: s.Failures, Kind: "devicecode"}
}

func unknownCode() error {
	return fault.New(fault.NotFound, "no device waits with this code: check the letters, or start again on the device")
}
