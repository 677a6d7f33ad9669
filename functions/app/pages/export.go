package pages

import "time"

// Export is the part of the settings that lets a member take everything along.
type Export struct {
	State       string    // empty: none was ever asked for; else pending, ready, failed or expired
	At          time.Time // when it was asked for
	ExpiresAt   time.Time // of one that is ready
	Done, Total int       // artifacts; of one that is pending
	Skipped     int       // of one that is ready
	Reason      string    // of one that failed, or expired before its time
	Volumes     []ExportVolume
	SignIn      string // where the member proves anew who they are; empty: they did lately
	Once        string
}

// ExportVolume is one archive of an export.
type ExportVolume struct {
	Name   string
	URL    string // empty: it takes a fresh sign-in
	Size   int64
	SHA256 string
}
