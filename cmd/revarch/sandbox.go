package main

import (
	"github.com/spf13/cobra"

	"revarch/sandbox"
)

func sandboxCommand() *cobra.Command {
	var cfg sandbox.Config
	var listen string
	c := &cobra.Command{
		Use: "sandbox", Short: "Serve the providers' dialects on loopback with generated data", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logTo("info")
			srv, err := sandbox.New(cfg)
			if err != nil {
				return err
			}
			defer func() { _ = srv.Close() }()
			return srv.Run(cmd.Context(), listen)
		},
	}
	f := c.Flags()
	f.StringVar(&listen, "listen", "127.0.0.1:8090", "loopback address")
	f.Uint64Var(&cfg.Seed, "seed", sandbox.DefaultSeed, "seed of the generated data")
	f.IntVar(&cfg.Accounts, "accounts", 400, "number of accounts")
	f.Float64Var(&cfg.ContactsPerAccount, "contacts-per-account", 0, "average; 0 is the default, -1 none")
	f.Float64Var(&cfg.OpportunitiesPerAccount, "opportunities-per-account", 0, "average; 0 is the default, -1 none")
	f.Float64Var(&cfg.TasksPerAccount, "tasks-per-account", 0, "average; 0 is the default, -1 none")
	f.StringVar(&cfg.StateDir, "state", "", "folder where grants and changes survive a restart")
	f.BoolVar(&cfg.AutoConsent, "auto-consent", false, "answer authorization requests without the consent page")
	f.IntVar(&cfg.DailyLimit, "daily-limit", sandbox.DefaultDailyLimit, "API requests a day")
	return c
}
