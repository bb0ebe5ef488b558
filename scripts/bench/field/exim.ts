import { mkdirSync, writeFileSync } from 'node:fs'
import { freePort } from '../../../test/support/free-port.ts'
import { run } from '../process.ts'
import type { Contender, Stage } from './contender.ts'
import { startDaemons } from './daemons.ts'
import { signingKey } from './signing-key.ts'

/** Exim as a relay that may sign while it sends and authenticate what it accepts, its Debian daemon unpacked into
 *  `--data`: it cannot be installed beside Postfix. */
export const exim: Contender = {
  name: 'Exim',
  needs: (tools) => ({ [`${tools}/usr/sbin/exim4`]: 'exim4-daemon-heavy, unpacked in that folder with dpkg -x' }),
  mails: { warmUp: 300, sent: 600, accepted: 6_000, inbound: 800 },
  open: (stage) => open(stage, false),
}

export const eximSigning: Contender = {
  name: 'Exim, signing',
  needs: exim.needs,
  mails: { warmUp: 300, sent: 500, accepted: 6_000 },
  open: (stage) => open(stage, true),
}

async function open(stage: Stage, isSigning: boolean) {
  const { folder, tools } = stage
  const port = await freePort()
  mkdirSync(`${folder}/spool`)
  if (isSigning) signingKey(folder)
  writeFileSync(`${folder}/exim.conf`, configOf(stage, port, isSigning))
  await run('/bin/chown', ['-R', 'Debian-exim', folder])
  await run('/bin/chown', ['root', `${folder}/exim.conf`])
  const command = [`${tools}/usr/sbin/exim4`, '-C', `${folder}/exim.conf`, '-bdf', '-q5m']
  return startDaemons(stage, { port, commands: [command] })
}

/** `deliver_drop_privilege` saves an exec for each mail, which a pure relay may use. Without the raised limits, mail
 *  would wait for the next queue run. */
function configOf({ folder, tools, sink, manner }: Stage, port: number, isSigning: boolean): string {
  return [
    'primary_hostname = mail.bench.example',
    `exim_path = ${tools}/usr/sbin/exim4`,
    `spool_directory = ${folder}/spool`,
    `log_file_path = ${folder}/%slog`,
    `pid_file_path = ${folder}/exim.pid`,
    'local_interfaces = 127.0.0.1',
    `daemon_smtp_ports = ${port}`,
    'smtp_accept_max = 100',
    'smtp_connect_backlog = 100',
    'smtp_accept_queue_per_connection = 0',
    'tls_advertise_hosts =',
    'keep_environment =',
    'deliver_drop_privilege = true',
    'acl_smtp_rcpt = acl_recipient',
    ...(manner === 'hold' ? ['queue_only = true'] : []),
    ...(manner === 'check' ? ['acl_smtp_data = acl_content'] : []),
    'begin acl',
    'acl_recipient:',
    ...(manner === 'check' ? ['  warn spf = pass:fail:softfail:none:neutral:permerror:temperror'] : []),
    '  accept hosts = 127.0.0.0/8',
    'acl_content:',
    `  warn add_header = :at_start:\${authresults{mail.bench.example}}`,
    '  accept',
    'begin routers',
    'smarthost:',
    '  driver = manualroute',
    '  route_list = * 127.0.0.1',
    '  self = send',
    '  transport = smtp',
    'begin transports',
    'smtp:',
    '  driver = smtp',
    `  port = ${sink.port}`,
    '  allow_localhost',
    '  hosts_try_fastopen =',
    ...(isSigning
      ? ['  dkim_domain = bench.example', '  dkim_selector = s1', `  dkim_private_key = ${folder}/dkim.pem`]
      : []),
    'begin retry',
    '* * F,2h,15m',
    '',
  ].join('\n')
}
