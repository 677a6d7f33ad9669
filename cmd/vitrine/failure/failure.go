// Package failure describes why a command failed: what happened, what to do next, and the exit code.
package failure

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"vitrine/shared/platform/fault"
)

// Exit is the exit code of the program; scripts rely on it.
type Exit int

// Exit codes follow the HTTP status of a response. Other is for every failure without a code of its own.
const (
	OK          Exit = 0
	Other       Exit = 1
	Auth        Exit = 2 // 401, 403, or no usable credential
	Quota       Exit = 3 // 429
	Invalid     Exit = 4 // 400, 422, or unusable flags, arguments or files
	NotFound    Exit = 5 // 404, 410
	Server      Exit = 6 // 5xx, or no response
	Conflict    Exit = 7 // 409
	Declined    Exit = 8 // the person said no
	Interrupted Exit = 130
	Terminated  Exit = 143
)

// Codes of failures that no server reports, in addition to those of the wire contract.
const (
	Usage          fault.Code = "usage_error"         // flags or arguments
	UnusablePath   fault.Code = "unusable_path"       // a file or folder that cannot be published
	NoEntrypoint   fault.Code = "entrypoint_required" // no entrypoint
	RootRelative   fault.Code = "root_relative"       // pages that name files of the folder by a leading slash
	BlankPage      fault.Code = "blank_page"          // a page of which readers would see nothing
	FileChanged    fault.Code = "file_changed"        // a file changed during the publish
	InProgress     fault.Code = "publish_in_progress" // another process publishes the same path
	Network        fault.Code = "network_error"       // no response
	HTTP           fault.Code = "http_error"          // an error response outside the contract
	Throttled      fault.Code = "rate_limited"        // a gateway refused, not one of our hosts
	BadResponse    fault.Code = "bad_response"        // an unusable or suspicious success
	Unencrypted    fault.Code = "unencrypted"         // plain HTTP to another machine
	Unwritten      fault.Code = "output_error"        // stdout cannot be written
	Unsettable     fault.Code = "config_error"        // the file of settings cannot be read or written
	Unstorable     fault.Code = "storage_error"       // a login cannot be stored or deleted
	Mismatch       fault.Code = "login_mismatch"      // the redirect does not belong to this login
	TimedOut       fault.Code = "login_timeout"       // the person did not sign in
	Moved          fault.Code = "server_moved"        // other hosts than at the login
	WasInterrupted fault.Code = "interrupted"         // SIGINT or SIGTERM
	WasDeclined    fault.Code = "declined"            // the person said no
	Unconfirmed    fault.Code = "confirmation_needed" // there is no terminal to ask at
	Unshowable     fault.Code = "not_text"            // bytes that must not be written to stdout
	Unsavable      fault.Code = "unusable_output"     // a file that cannot be written
	NoEdit         fault.Code = "edit_failed"         // an edit does not fit its file
	LinkLasts      fault.Code = "link_lasts_longer"   // an existing share link ends later than requested
	BundlePending  fault.Code = "bundle_pending"      // the zip is not made yet
	NoExport       fault.Code = "export_unavailable"  // there are no archives of the workspace
	ExportPending  fault.Code = "export_pending"      // they are not made yet
	ClientFile     fault.Code = "client_file"         // a file of a client that cannot be changed
	ForeignEntry   fault.Code = "foreign_entry"       // a file of a client has another server of our name
	Connecting     fault.Code = "connect_in_progress" // another process connects or disconnects
)

// Failure is an error that may be shown: it contains no secret and no signed URL.
type Failure struct {
	Exit    Exit
	Code    fault.Code
	Message string
	// Hint says what to do next, as one sentence or command.
	Hint string
	Docs string
	// RequestID identifies the request in the server's log.
	RequestID string
	// RetryAfter is the wait that the server asks for; zero if it does not say.
	RetryAfter time.Duration
	// Transient reports that the same attempt may succeed soon.
	Transient bool
}

// New returns a failure with a message for people.
func New(exit Exit, code fault.Code, format string, args ...any) *Failure {
	return &Failure{Exit: exit, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error returns the message.
func (f *Failure) Error() string { return f.Message }

// Advise sets the hint and returns f.
func (f *Failure) Advise(format string, args ...any) *Failure {
	f.Hint = fmt.Sprintf(format, args...)
	return f
}

// Of returns the failure in err. A cancelled command is Interrupted; an error that is no Failure is Other.
func Of(err error) *Failure {
	var f *Failure
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.Canceled):
		return New(Interrupted, WasInterrupted, "interrupted before the server confirmed").
			Advise("Run the command again to start over; files without a publish are removed by the server.")
	}
	return New(Other, fault.Internal, "%v",
		err).Advise("This is a bug in the CLI: please report it with the command that you ran.")
}

// Cause returns the system's error in err without names of files, which messages have.
func Cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

// IsCode reports whether err is a failure with this code.
func IsCode(err error, code fault.Code) bool {
	var f *Failure
	return errors.As(err, &f) && f.Code == code
}

// ExitOf returns the exit code for the HTTP status of a refusal.
func ExitOf(status int) Exit {
	switch {
	case status == 401 || status == 403:
		return Auth
	case status == 429:
		return Quota
	case status == 400 || status == 422:
		return Invalid
	case status == 404 || status == 410:
		return NotFound
	case status == 409:
		return Conflict
	case status >= 500:
		return Server
	}
	return Other
}
