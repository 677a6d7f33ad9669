package main

import (
	"context"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// Limits of list: the default, the size of one call, and the most that one command shows.
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
	f := cmd.Flags()
	f.IntVar(&p.limit, "limit", defaultList, "how many to list")
	f.BoolVar(&p.all, "all", false, "list all")
	f.StringVar(&p.cursor, "cursor", "", "where to go on")
	cmd.MarkFlagsMutuallyExclusive("limit", "all")
	return cmd
}

// listed is the JSON result of list.
type listed struct {
	SchemaVersion string `json:"schema_version"`
	contract.ArtifactList
}

func (a *app) list(ctx context.Context, p paging) error {
	if p.all {
		p.limit = maxList
	}
	if p.limit < 1 || p.limit > maxList || len(p.cursor) > limits.CursorLength {
		return failure.New(failure.Invalid, failure.Usage,
			"--limit takes 1 to %d, --cursor a cursor of an earlier answer", maxList).
			Advise("vitrine list --all lists all.")
	}
	account, by, err := a.account(ctx, toAct)
	if err != nil {
		return by.refusedBy(err)
	}
	l, err := pages(ctx, account, p)
	switch {
	case err != nil:
		return by.refusedBy(err)
	case a.screen.IsJSON():
		return a.screen.Object(listed{schemaVersion, l})
	}
	return a.showList(l)
}

// pages reads as many pages as needed.
func pages(ctx context.Context, by *client.Account, p paging) (contract.ArtifactList, error) {
	all := contract.ArtifactList{Data: []contract.ArtifactSummary{}}
	for {
		page, err := by.List(ctx, p.cursor, min(listPage, p.limit-len(all.Data)))
		if err != nil {
			return all, err
		}
		all.Data, all.PageInfo = append(all.Data, page.Data...), page.PageInfo
		if !page.PageInfo.HasMore || len(all.Data) >= p.limit {
			return all, nil
		}
		p.cursor = *page.PageInfo.NextCursor
	}
}

func (a *app) showList(l contract.ArtifactList) error {
	var rows [][]string
	for _, s := range l.Data {
		state := "expires " + screen.When(s.ExpiresAt.Time, a.now())
		if a.outlives(s.ExpiresAt) {
			state = "pinned"
		}
		if s.RevisionID == nil {
			state = "not published yet"
		}
		rows = append(rows, []string{
			string(s.ID), date(s.UpdatedAt), screen.Count(s.FileCount, "file"), screen.Bytes(s.SizeBytes), state, s.Title,
		})
	}
	switch {
	case len(rows) == 0:
		a.screen.Note("There are no artifacts yet; publish one with vitrine publish PATH")
	case l.PageInfo.HasMore && len(l.Data) >= maxList:
		a.screen.Note("There are more: continue with vitrine list --all --cursor %s", failure.Quoted(*l.PageInfo.NextCursor))
	case l.PageInfo.HasMore:
		a.screen.Note("There are more: continue with vitrine list --cursor %s, or list all with vitrine list --all",
			failure.Quoted(*l.PageInfo.NextCursor))
	}
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
