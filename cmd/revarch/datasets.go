package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"revarch/config"
	"revarch/devstack"
	"revarch/fault"
	"revarch/sandbox/control"
	"revarch/sandbox/data"
	"revarch/services/datasets"
)

func datasetsCommand() *cobra.Command {
	c := &cobra.Command{Use: "datasets", Short: "List and load official education datasets, through the API with an operator's key"}
	var api, key, data string
	var send datasets.SendOptions
	client := func(cmd *cobra.Command) (*datasets.Client, error) {
		base, secret, err := operatorAccess(api, key, data)
		return &datasets.Client{BaseURL: base, Key: secret, HTTP: &http.Client{}, Out: cmd.OutOrStdout()}, err
	}
	p := c.PersistentFlags()
	p.StringVar(&api, "api", "", "address of the app (default: that of revarch up)")
	p.StringVar(&key, "key", "", "API key of the system organization (default: that of revarch up)")
	p.StringVar(&data, "data", "", "data folder of revarch up")
	ingest := &cobra.Command{
		Use: "ingest FILE|DIR|URL", Short: "Load a file, every recognized file of a folder, or a published file", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := client(cmd)
			if err != nil {
				return err
			}
			return cl.Send(cmd.Context(), args[0], send)
		},
	}
	f := ingest.Flags()
	f.StringVar(&send.Dataset, "dataset", "", "ipeds_hd, saipe_districts or ccd_lea_directory (default: told by the content)")
	f.IntVar(&send.Year, "year", 0, "the vintage's year, where neither name nor content tell it: the end of the school year (2025 for HD2024), or the year of the estimate")
	f.StringVar(&send.Release, "release", "", "how final the publication is, where the name does not tell")
	f.BoolVar(&send.Partial, "partial", false, "the file is a part of the country: never in place of a whole one")
	c.AddCommand(ingest, &cobra.Command{Use: "list", Short: "List the releases that are loaded", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		cl, err := client(cmd)
		if err != nil {
			return err
		}
		return cl.List(cmd.Context())
	}})
	return c
}

// operatorAccess finds the app and an operator's key: flags first, then the environment, then what revarch up keeps.
func operatorAccess(api, key, data string) (base, secret string, err error) {
	cfg, err := config.Load(config.Need{})
	if err != nil {
		return "", "", err
	}
	if data == "" {
		if data, err = devstack.DefaultData(); err != nil {
			return "", "", err
		}
	}
	cred, err := readCredentials(data)
	if err != nil && !errors.Is(err, os.ErrPermission) {
		return "", "", err
	}
	base, secret = cmp.Or(api, cfg.PublicURL, cred.AppURL), cmp.Or(key, cfg.OperatorKey, cred.OperatorAPIKey)
	if base == "" || secret == "" {
		return "", "", fault.New(fault.Invalid, "say where RevArch runs and with which key: --api and --key, or --data for the folder of revarch up")
	}
	return base, secret, nil
}

// Sizes of the sandbox's roster.
const rosterDistricts, rosterInstitutions = 6000, 2500

// rosterPace is how often official files that were loaded meanwhile are looked for.
const rosterPace = 10 * time.Second

// followDatasets renames the sandbox's institutions whenever other releases are in force, until ctx ends.
func (s *stack) followDatasets(ctx context.Context, a *app) {
	for named := []uuid.UUID(nil); ; {
		current, err := a.datasets().Current(ctx)
		if err == nil && !slices.Equal(current, named) {
			if err = s.renameInstitutions(ctx, a); err == nil {
				named = current
			}
		}
		if err != nil && ctx.Err() == nil { // PostgreSQL or the sandbox may be coming back just now
			slog.DebugContext(ctx, "institutions of the sandbox not renamed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(rosterPace):
		}
	}
}

// renameInstitutions gives the sandbox's districts and colleges real names and ids once official files are loaded. The
// sandbox stamps only what changes, so the next sync takes it up and a repetition changes nothing.
func (s *stack) renameInstitutions(ctx context.Context, a *app) error {
	entries, err := a.datasets().Roster(ctx, rosterDistricts, rosterInstitutions, int64(s.o.seed))
	if err != nil || len(entries) == 0 {
		return err
	}
	roster := make([]data.RosterEntry, len(entries))
	for i, e := range entries {
		roster[i] = data.RosterEntry{Kind: data.Sector(e.Kind), ID: e.ID, Name: e.Name, City: e.City, State: e.State, Enrollment: e.Enrollment}
	}
	_, err = control.New(s.adhoc.sandbox, "crm_a").SetRoster(ctx, roster)
	return err
}
