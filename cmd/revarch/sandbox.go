package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"revarch/sandbox"
	"revarch/sandbox/data"
)

func sandboxCommand() *cobra.Command {
	var cfg sandbox.Config
	var listen, roster string
	c := &cobra.Command{Use: "sandbox", Short: "Serve the providers' dialects on loopback with generated data", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			logTo("info")
			if roster != "" {
				if cfg.Roster, err = readRoster(roster); err != nil {
					return err
				}
			}
			srv, err := sandbox.New(cfg)
			if err != nil {
				return err
			}
			defer func() { _ = srv.Close() }()
			return srv.Run(cmd.Context(), listen)
		}}
	f := c.Flags()
	f.StringVar(&listen, "listen", "127.0.0.1:8090", "loopback address")
	f.Uint64Var(&cfg.Seed, "seed", sandbox.DefaultSeed, "seed of the generated data")
	f.IntVar(&cfg.Accounts, "accounts", 400, "number of accounts")
	f.Float64Var(&cfg.ContactsPerAccount, "contacts-per-account", 0, "average; 0 is the default, -1 none")
	f.Float64Var(&cfg.OpportunitiesPerAccount, "opportunities-per-account", 0, "average; 0 is the default, -1 none")
	f.Float64Var(&cfg.TasksPerAccount, "tasks-per-account", 0, "average; 0 is the default, -1 none")
	f.StringVar(&cfg.StateDir, "state", "", "folder where grants and changes survive a restart")
	f.StringVar(&roster, "roster", "", "CSV of real institutions: kind,id,name,city,state,enrollment")
	f.BoolVar(&cfg.AutoConsent, "auto-consent", false, "answer authorization requests without the consent page")
	f.IntVar(&cfg.DailyLimit, "daily-limit", sandbox.DefaultDailyLimit, "API requests a day")
	return c
}

func readRoster(path string) ([]data.RosterEntry, error) {
	f, err := os.Open(path) //nolint:gosec // G304: the operator's own path
	if err != nil {
		return nil, fmt.Errorf("open roster: %w", err)
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read roster: %w", err)
	}
	var out []data.RosterEntry
	for i, r := range rows {
		if i == 0 || len(r) != 6 {
			continue
		}
		n, _ := strconv.Atoi(r[5])
		out = append(out, data.RosterEntry{Kind: data.Sector(r[0]), ID: r[1], Name: r[2], City: r[3], State: r[4], Enrollment: n})
	}
	return out, nil
}
