/** What `init` writes and shows; both for people to read and change. */

/** Host name and data directory (undefined: the default) → a config with only what must be decided. */
export function initialConfig({ hostname, dataDir }: { hostname: string; dataDir?: string | undefined }): string {
  return `# Postrider. Only what had to be decided stands here; everything else has a default. All keys with their meaning:
# config.example.toml, or \`postrider config example\`. After a change: \`postrider config check\`.

# The public name of this machine, said in SMTP greetings. Its A/AAAA record and the PTR record of its address
# should agree.
hostname = ${JSON.stringify(hostname)}

# The database with messages, keys and events. Back it up; keep it to yourself.
${dataDir === undefined ? '#data_dir = "/var/lib/postrider"' : `data_dir = ${JSON.stringify(dataDir)}`}

[http]
# The API. Put a TLS proxy in front before it faces the world.
#listen = "127.0.0.1:8025"
# How the world reaches it.
#public_url = ""

[delivery]
# When your provider blocks port 25: the relay it offers, user and password percent-encoded.
#smarthost = "smtp://user:password@smtp.example.com:587"
`
}

/** Where things are → a unit that starts the server with the rights it needs and no others. */
export function serviceUnit(places: { program: string; file: string; dataDir: string }): string {
  const { program, file, dataDir } = places
  return `
[Unit]
Description=Postrider transactional email
Wants=network-online.target
After=network-online.target nss-lookup.target time-sync.target

[Service]
Type=notify
User=postrider
ExecStart=${program} serve --config ${file}
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=2s
RestartPreventExitStatus=2 3
TimeoutStopSec=35s
UMask=0077
LimitNOFILE=65536
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths=${dataDir}
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK

[Install]
WantedBy=multi-user.target`
}
