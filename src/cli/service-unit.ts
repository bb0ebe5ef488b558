import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { requireConfig } from './cli-context.ts'
import { print } from './print.ts'

/** Prints the systemd unit for this program, this config and its data directory. */
export function printUnit({ config: file }: { config: string }): void {
  const { dataDir } = requireConfig(file)
  print(serviceUnit({ program: PROGRAM, file: resolve(file), dataDir }))
}

/** Paths → text of a systemd unit that runs the server with minimal privileges (systemd.exec(5)). A filtered system
 *  call fails with EPERM instead of killing the process, since the runtime has fallbacks. The unit deliberately omits
 *  MemoryDenyWriteExecute (the runtime would silently lose its JIT and run twenty times slower) and PrivateUsers (ports
 *  below 1024 could not be bound). */
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
# A restart fixes neither a usage or config error (2) nor a data directory in use (3).
RestartPreventExitStatus=2 3
# A new version migrates the database before it is ready.
TimeoutStartSec=15min
TimeoutStopSec=35s
WatchdogSec=30s

User=postrider
Group=postrider
UMask=0077
${directories(places.file, places.dataDir)}
# The SQLite library is mapped from here: /tmp may be mounted noexec.
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
# The process that parses inbound mail drops its privileges with these calls; threads lower their priority.
SystemCallFilter=seccomp setpriority landlock_create_ruleset landlock_add_rule landlock_restrict_self
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target`
}

const STATE_DIR = '/var/lib/postrider'
const CONFIG_DIR = '/etc/postrider'

/** Quotes a path for a unit (systemd.service(5), "Command lines"). */
function word(path: string): string {
  const escaped = path.replaceAll(/["\\]/g, '\\$&').replaceAll(/[%$]/g, '$&$&')
  return /[\s"'\\;]/.test(path) ? `"${escaped}"` : escaped
}

/** systemd creates the default folders. Other folders must exist; otherwise the unit does not start. */
function directories(file: string, dataDir: string): string {
  const state =
    dataDir === STATE_DIR ? 'StateDirectory=postrider\nStateDirectoryMode=0700' : `ReadWritePaths=${word(dataDir)}`
  const config = 'ConfigurationDirectory=postrider\nConfigurationDirectoryMode=2750\n'
  return `${dirname(file) === CONFIG_DIR ? config : ''}${state}`
}

/** Commands for root that start the server now and at boot. It is one command if a package has
 *  installed user and unit. */
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

/** Path of this program, or the default path if it runs from source. */
export const PROGRAM = process.env.POSTRIDER_GIT_SHA === undefined ? '/usr/local/bin/postrider' : process.execPath

/** The program in a shell command: its name, or its path if the folder is not in PATH. */
export const COMMAND = process.env.PATH?.split(':').includes(dirname(PROGRAM)) ? 'postrider' : PROGRAM
