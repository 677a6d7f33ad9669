package main

import (
	"context"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// Limits of list: the default, the size of one call, and the maximum for one command.
const (
	defaultList = limits.DefaultPage
	listPage    = limits.MaxPage
	maxList     = 10000
)

// paging selects the part of a list to show.
type paging struct {
	limit  int
	all    bool
	cursor string
}

func (a *app) listCommand() *cobra.Command {
	var p paging
	cmd := a.command("list", "List the artifacts of the workspace", listGuide, cobra.NoArgs,
		func(ctx context.Context, _ []string) error { return a.list(ctx, p) })
	p.register(cmd, defaultList)
	return cmd
}

// register defines the flags of a command that lists.
func (p *paging) register(cmd *cobra.Command, limit int) {
	f := cmd.Flags()
	f.IntVar(&p.limit, "limit", limit, "how many to list")
	f.BoolVar(&p.all, "all", false, "list all")
	f.StringVar(&p.cursor, "cursor", "", "where to go on")
	cmd.MarkFlagsMutuallyExclusive("limit", "all")
}

// check refuses values out of range, and resolves --all.
func (p *paging) check(command string) error {
	if p.all {
		p.limit = maxList
	}
	if p.limit < 1 || p.limit > maxList || len(p.cursor) > limits.CursorLength {
		return failure.New(failure.Invalid, failure.Usage,
			"--limit takes 1 to %d, --cursor a cursor of an earlier answer", maxList).
			Advise("vitrine %s --all lists all.", command)
	}
	return nil
}

// listed is the JSON result of list.
type listed struct {
	SchemaVersion string `json:"schema_version"`
	contract.ArtifactList
}

func (a *app) list(ctx context.Context, p paging) error {
	if err := p.check("list"); err != nil {
		return err
	}
	account, by, err := a.account(ctx, toAct)
	if err != nil {
		return by.refusedBy(err)
	}
	var l contract.ArtifactList
	read := func(cursor string, limit int) ([]contract.ArtifactSummary, contract.PageInfo, error) {
		page, err := account.List(ctx, cursor, limit)
		return page.Data, page.PageInfo, err
	}
	l.Data, l.PageInfo, err = pages(p, read)
	switch {
	case err != nil:
		return by.refusedBy(err)
	case a.screen.IsJSON():
		return a.screen.Object(listed{schemaVersion, l})
	}
	return a.showList(l)
}

// pages reads as many pages as needed.
func pages[Row any](
	p paging,
	read func(cursor string, limit int) ([]Row, contract.PageInfo, error),
) (all []Row, info contract.PageInfo, err error) {
	all = []Row{}
	for {
		rows, info, err := read(p.cursor, min(listPage, p.limit-len(all)))
		if err != nil {
			return all, info, err
		}
		all = append(all, rows...)
		if !info.HasMore || len(all) >= p.limit {
			return all, info, nil
		}
		p.cursor = *info.NextCursor
	}
}

// noteMore says how to continue a list after this many rows.
func (a *app) noteMore(command string, rows int, info contract.PageInfo) {
	switch {
	case !info.HasMore:
	case rows >= maxList:
		a.screen.Note("There are more: continue with vitrine %s --all --cursor %s", command,
			failure.Quoted(*info.NextCursor))
	default:
		a.screen.Note("There are more: continue with vitrine %s --cursor %s, or list all with vitrine %s --all", command,
			failure.Quoted(*info.NextCursor), command)
	}
}

func (a *app) showList(l contract.ArtifactList) error {
	var rows [][]string
	for _, s := range l.Data {
		state := "expires " + screen.When(s.ExpiresAt.Time, a.now())
		switch {
		case s.RevisionID == nil:
			state = "not published yet"
		case a.outlives(s.ExpiresAt):
			state = "pinned"
		case !limits.Ends(s.ExpiresAt.Time):
			state = doesNotExpire
		}
		rows = append(rows, []string{
			string(s.ID), date(s.UpdatedAt), screen.Count(s.FileCount, "file"), screen.Bytes(s.SizeBytes), state, s.Title,
		})
	}
	if len(rows) == 0 {
		a.screen.Note("There are no artifacts yet; publish one with vitrine publish PATH")
	}
	a.noteMore("list", len(rows), l.PageInfo)
	return a.screen.Table(rows)
}

const listGuide = `vitrine list lists the artifacts of the workspace, newest first.

  vitrine list
  vitrine list --limit 200
  vitrine list --all --json
  vitrine list --quiet                only the ids, one a line

Each line shows id, day of the last change, number of files, size, expiry and title.
With --json: {"schema_version":"1","data":[{id, revision_id, status, title, entrypoint, file_count,
size_bytes, expires_at, created_at, updated_at,...}],"page_info":{next_cursor, has_more}}.

Flags:
  --limit N        how many, 1 to 10000; default 50
  --all            all, up to 10000
  --cursor CURSOR  continue after an earlier result, with its next_cursor
`
