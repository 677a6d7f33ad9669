// Package dynamo stores all state in three DynamoDB tables and implements the ports of the core on them.
package dynamo

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Tables are the names of the tables. core must never be lost, events records what happened, and hot holds what may be
// lost.
type Tables struct {
	Core, Events, Hot string
}

// Named returns the tables of a deployment whose names begin with prefix.
func Named(prefix string) Tables {
	return Tables{Core: prefix + "-core", Events: prefix + "-events", Hot: prefix + "-hot"}
}

// Stores has a store for each family of ports. All of them share a client and the tables.
type Stores struct {
	*db

	Access        Access
	Artifacts     Artifacts
	Billing       Billing
	Bundles       Bundles
	Claims        Claims
	Clients       Clients
	Consents      Consents
	ContentIndex  ContentIndex
	Copies        Copies
	Counters      Counters
	Delegations   Delegations
	Deletions     Deletions
	Devices       Devices
	Edits         Edits
	Events        Events
	Exports       Exports
	Feedback      Feedback
	Garbage       Garbage
	Grants        Grants
	Keys          Keys
	Links         Links
	Lockdowns     Lockdowns
	Lookups       Lookups
	Members       Members
	Queue         Queue
	Recoveries    Recoveries
	Registrations Registrations
	Removals      Removals
	Reports       Reports
	Sessions      Sessions
	SignIns       SignIns
	Takeovers     Takeovers
	Uploads       Uploads
	Workspaces    Workspaces
}

// Option changes how stores read.
type Option func(*db)

// JudgeSignIns makes authentication read the last sign-ins of members with their workspace.
func JudgeSignIns(d *db) { d.judges = true }

// New makes the stores on tables that exist.
func New(client *dynamodb.Client, tables Tables, options ...Option) Stores {
	d := &db{client: operationsOf(settled(client)), tables: tables}
	for _, set := range options {
		set(d)
	}
	m := metadata{d}
	f := files{d}
	c := cleanup{references{d}}
	a := Artifacts{d, m, f}
	return Stores{
		db:            d,
		Access:        Access{d, m},
		Artifacts:     a,
		Billing:       Billing{d},
		Bundles:       Bundles{d, c, m, f},
		Claims:        Claims{d},
		Clients:       Clients{d},
		Consents:      Consents{d},
		ContentIndex:  ContentIndex{d, c},
		Copies:        Copies{d},
		Counters:      Counters{d},
		Delegations:   Delegations{Members{d}},
		Deletions:     Deletions{d, m},
		Devices:       Devices{d},
		Edits:         Edits{d, m, f},
		Events:        Events{d},
		Exports:       Exports{d, c, m, f, a, Keys{d}, Links{d, m}, Events{d}},
		Feedback:      Feedback{d},
		Garbage:       Garbage{d, c},
		Grants:        Grants{d},
		Keys:          Keys{d},
		Links:         Links{d, m},
		Lockdowns:     Lockdowns{d},
		Lookups:       Lookups{d, m},
		Members:       Members{d},
		Queue:         Queue{d, c},
		Recoveries:    Recoveries{d, c},
		Registrations: Registrations{d},
		Removals:      Removals{d, c},
		Reports:       Reports{d, m},
		Sessions:      Sessions{d},
		SignIns:       SignIns{d},
		Takeovers:     Takeovers{Delegations{Members{d}}},
		Uploads:       Uploads{d, m, f},
		Workspaces:    Workspaces{d},
	}
}
