package token

import (
	"encoding/binary"
	"time"

	"vitrine/shared/platform/id"
)

// ExportClaims are the content of a token for one archive of an export. The token has the layout of all tokens, with
// the export in place of the artifact and the number of the archive in place of the revision.
type ExportClaims struct {
	Expires   time.Time // whole seconds
	Workspace id.Workspace
	Export    id.Export
	Volume    int // from 1 on
}

// MintExport signs claims.
func (c *Codec) MintExport(claims ExportClaims) (string, error) {
	export, err := claims.Export.Bits()
	if err != nil {
		return "", err
	}
	var volume id.Bits
	binary.BigEndian.PutUint32(volume[12:], uint32(claims.Volume))
	return c.Mint(Claims{
		Expires:   claims.Expires,
		Workspace: claims.Workspace,
		Artifact:  id.ArtifactOf(export),
		Revision:  id.RevisionOf(volume),
	})
}

// ParseExport checks a token of MintExport without any lookup.
func (c *Codec) ParseExport(text string, now time.Time) (ExportClaims, error) {
	claims, err := c.Parse(text, now)
	if err != nil {
		return ExportClaims{}, err
	}
	export, err1 := claims.Artifact.Bits()
	volume, err2 := claims.Revision.Bits()
	if err1 != nil || err2 != nil || claims.Link != "" {
		return ExportClaims{}, ErrInvalid
	}
	return ExportClaims{
		Expires:   claims.Expires,
		Workspace: claims.Workspace,
		Export:    id.ExportOf(export),
		Volume:    int(binary.BigEndian.Uint32(volume[12:])),
	}, nil
}
