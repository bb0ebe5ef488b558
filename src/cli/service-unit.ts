import { existsSync } from 'node:fs'
import { dirname } from 'node:path'

/** Where things are → a systemd unit that starts the server with the rights it needs and no others. A system call that
 *  the filter refuses is EPERM, not death: what the runtime tries for speed, it does without. Left out on purpose:
 *  MemoryDenyWriteExecute (the runtime would lose its compiler without a word, and be twenty times slower) and
 *  PrivateUsers (ports below 1024 could not be bound). */
export function serviceUnit(places: { program: string; file: string; dataDir: string }): string {
  const [program, file] = [word(places.program), word(places.file)]
  return `[Unit]
Description=Postrider transactional email
Documentation=man:postrider(1) man:postrider-config(5)
Wants=network-online.target
After=network-online.target nss-lookup.target time-sync.target
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=notify
NotifyAccess=main
ExecStartPre=${program} config check --config ${file}
ExecStart=${program} serve --config ${file}
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=2s
# Usage or config, and a data directory that is served already: trying again helps neither.
RestartPreventExitStatus=2 3
# A new version brings the database up to date first.
TimeoutStartSec=15min
TimeoutStopSec=35s
WatchdogSec=30s

User=postrider
Group=postrider
UMask=0077
${directories(places.file, places.dataDir)}
# The SQLite library is unpacked here and mapped from here; /tmp may be mounted noexec.
CacheDirectory=postrider
CacheDirectoryMode=0700
Environment=TMPDIR=%C/postrider
UnsetEnvironment=BUN_OPTIONS BUN_BE_BUN NODE_OPTIONS
LimitNOFILE=65536
LimitCORE=0
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE

NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
DevicePolicy=closed
ProtectProc=invisible
ProcSubset=pid
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RemoveIPC=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
# The process that reads inbound mail gives up its rights with these, and threads a part of the processor.
SystemCallFilter=seccomp setpriority landlock_create_ruleset landlock_add_rule landlock_restrict_self
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target`
}

const STATE_DIR = '/var/lib/postrider'
const CONFIG_DIR = '/etc/postrider'

/** A path → as a unit has it (systemd.service(5), "Command lines"). */
function word(path: string): string {
  const escaped = path.replaceAll(/["\\]/g, '\\$&').replaceAll(/[%$]/g, '$&$&')
  return /[\s"'\\;]/.test(path) ? `"${escaped}"` : escaped
}

/** systemd makes the usual folders itself. Others are there, or nothing starts. */
function directories(file: string, dataDir: string): string {
  const state =
    dataDir === STATE_DIR ? 'StateDirectory=postrider\nStateDirectoryMode=0700' : `ReadWritePaths=${word(dataDir)}`
  const config = 'ConfigurationDirectory=postrider\nConfigurationDirectoryMode=2750\n'
  return `${dirname(file) === CONFIG_DIR ? config : ''}${state}`
}

/** What root types so that the server runs now and after each start of the machine; next to nothing where a package has
 *  brought user and unit. */
export function serviceSteps(places: { file: string; dataDir: string; secrets: readonly string[] }): string {
  const { file, dataDir } = places
  const secrets = places.secrets.map((secret) => `chown postrider: ${secret}\n   `).join('')
  const last = `${secrets}systemctl enable --now postrider`
  if (existsSync(PACKAGED_UNIT)) return `   ${last}`
  return `   useradd --system --user-group --home-dir / --shell /usr/sbin/nologin postrider
   chown -R postrider: ${dataDir}
   ${dirname(file) === CONFIG_DIR ? `chgrp -R postrider ${CONFIG_DIR} && chmod 2750 ${CONFIG_DIR}` : `chgrp postrider ${file}`}
   ${PROGRAM} unit --config ${file} > /etc/systemd/system/postrider.service
   systemctl daemon-reload
   ${last}`
}

const PACKAGED_UNIT = '/usr/lib/systemd/system/postrider.service'

/** Where this program stands; the runtime's place would help nobody when it was not built. */
export const PROGRAM = process.env.POSTRIDER_GIT_SHA === undefined ? '/usr/local/bin/postrider' : process.execPath

/** This program as a shell finds it: by its name, or where its folder is not in PATH by its path. */
export const COMMAND = process.env.PATH?.split(':').includes(dirname(PROGRAM)) ? 'postrider' : PROGRAM
