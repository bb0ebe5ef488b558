import { mkdirSync, writeFileSync } from 'node:fs'
import { freePort } from '../../../test/support/free-port.ts'
import { run } from '../process.ts'
import type { Contender, Stage } from './contender.ts'
import { startDaemons } from './daemons.ts'
import { signingKey } from './signing-key.ts'

/** Postfix with its defaults, relaying to the sink; with OpenDKIM as a milter on a unix socket. */
export const postfix: Contender = {
  name: 'Postfix',
  needs: () => ({ [`${DAEMONS}/master`]: 'postfix' }),
  mails: { warmUp: 300, sent: 3_000, accepted: 6_000, healthy: 2_000 },
  open: (stage) => open(stage, false),
}

export const postfixSigning: Contender = {
  name: 'Postfix + OpenDKIM',
  needs: () => ({ [`${DAEMONS}/master`]: 'postfix', [OPENDKIM]: 'opendkim' }),
  mails: { warmUp: 300, sent: 2_000, accepted: 3_000 },
  open: (stage) => open(stage, true),
}

const DAEMONS = '/usr/lib/postfix/sbin'
const OPENDKIM = '/usr/sbin/opendkim'

async function open(stage: Stage, isSigning: boolean) {
  const { folder } = stage
  const port = await freePort()
  for (const name of ['conf', 'queue', 'data']) mkdirSync(`${folder}/${name}`)
  await run('/bin/chown', ['postfix', `${folder}/data`])
  writeFileSync(`${folder}/conf/main.cf`, mainOf(stage, isSigning))
  writeFileSync(`${folder}/transport`, 'sink.example smtp:[127.0.0.1]\n')
  writeFileSync(`${folder}/conf/master.cf`, masterOf(port))
  if (isSigning) {
    signingKey(folder)
    writeFileSync(`${folder}/opendkim.conf`, opendkimOf(folder))
  }
  return startDaemons(stage, {
    port,
    commands: [
      ...(isSigning ? [[OPENDKIM, '-f', '-x', `${folder}/opendkim.conf`]] : []),
      ['/usr/sbin/postfix', '-c', `${folder}/conf`, 'start-fg'],
    ],
  })
}

function mainOf({ folder, sink, manner }: Stage, isSigning: boolean): string {
  // to the sink directly: Postfix would treat a host with its own address in DNS as itself
  const routes = [`transport_maps = texthash:${folder}/transport`, `smtp_tcp_port = ${sink.port}`]
  const relays = [`relayhost = [127.0.0.1]:${sink.port}`, 'smtp_dns_support_level = disabled']
  return [
    'compatibility_level = 3.6',
    `queue_directory = ${folder}/queue`,
    `data_directory = ${folder}/data`,
    `maillog_file = ${folder}/mail.log`,
    `maillog_file_prefixes = ${folder}`,
    'myhostname = mail.bench.example',
    'mydestination =',
    'mynetworks = 127.0.0.0/8',
    'inet_interfaces = 127.0.0.1',
    'inet_protocols = ipv4',
    'alias_maps =',
    ...(manner === 'route' ? routes : relays),
    'smtpd_peername_lookup = no',
    ...(manner === 'hold' ? ['smtpd_client_restrictions = static:HOLD'] : []),
    ...(isSigning ? [`smtpd_milters = unix:${folder}/opendkim.sock`, 'milter_default_action = tempfail'] : []),
    '',
  ].join('\n')
}

/** The services that relaying requires, as in Postfix's own file: name, type, private, unprivileged, chroot, wakeup,
 *  processes, command. */
function masterOf(port: number): string {
  return [
    `127.0.0.1:${port} inet n - n - - smtpd`,
    'pickup unix n - n 60 1 pickup',
    'cleanup unix n - n - 0 cleanup',
    'qmgr unix n - n 300 1 qmgr',
    'tlsmgr unix - - n 1000? 1 tlsmgr',
    'rewrite unix - - n - - trivial-rewrite',
    'bounce unix - - n - 0 bounce',
    'defer unix - - n - 0 bounce',
    'trace unix - - n - 0 bounce',
    'verify unix - - n - 1 verify',
    'flush unix n - n 1000? 0 flush',
    'proxymap unix - - n - - proxymap',
    'smtp unix - - n - - smtp',
    'relay unix - - n - - smtp',
    'showq unix n - n - - showq',
    'error unix - - n - - error',
    'retry unix - - n - - error',
    'discard unix - - n - - discard',
    'anvil unix - - n - 1 anvil',
    'scache unix - - n - 1 scache',
    'postlog unix-dgram n - n - 1 postlogd',
    '',
  ].join('\n')
}

function opendkimOf(folder: string): string {
  return [
    'Mode s',
    'Domain bench.example',
    'Selector s1',
    `KeyFile ${folder}/dkim.pem`,
    'Canonicalization relaxed/simple',
    'OversignHeaders From',
    'RequireSafeKeys no',
    'InternalHosts csl:127.0.0.0/8',
    `Socket local:${folder}/opendkim.sock`,
    'UMask 000',
    '',
  ].join('\n')
}
