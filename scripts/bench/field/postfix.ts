import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { type Daemon, startDaemon } from '../../../test/support/daemon.ts'
import { freePort } from '../../../test/support/free-port.ts'
import { bodies } from '../bodies.ts'
import type { Running, Stage } from '../field.ts'
import { deliver } from '../peers.ts'
import { cpuSeconds, run, until } from '../process.ts'

/** Postfix with its defaults, relaying to the sink or holding all mail; with OpenDKIM as a milter on a unix socket. */
export async function openPostfix(stage: Stage, isSigning: boolean): Promise<Running> {
  const { folder } = stage
  const port = await freePort()
  for (const name of ['conf', 'queue', 'data']) mkdirSync(`${folder}/${name}`)
  await run('/bin/chown', ['postfix', `${folder}/data`])
  writeFileSync(`${folder}/conf/main.cf`, mainOf(stage, isSigning))
  writeFileSync(`${folder}/conf/master.cf`, masterOf(port))
  const daemons = isSigning ? [startOpendkim(folder)] : []
  daemons.push(startDaemon(['postfix', '-c', `${folder}/conf`, 'start-fg'], { folder }))
  await until(() => greets(port))
  return {
    send: (connections, count) =>
      deliver({ smtpInbound: `127.0.0.1:${port}` }, connections, count, bodies.smtp(folder), 'ann@sink.example'),
    cpuSeconds: () => daemons.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0),
    stop: async () => {
      await run('postfix', ['-c', `${folder}/conf`, 'abort'])
      for (const daemon of daemons) await daemon.end('SIGTERM')
    },
  }
}

function startOpendkim(folder: string): Daemon {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(`${folder}/dkim.pem`, privateKey.export({ type: 'pkcs1', format: 'pem' }))
  writeFileSync(`${folder}/opendkim.conf`, opendkimOf(folder))
  return startDaemon(['opendkim', '-f', '-x', `${folder}/opendkim.conf`], { folder })
}

async function greets(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const end = () => resolve(false)
  const socket = {
    data: (peer: { end(text: string): void }, bytes: Buffer) => {
      resolve(bytes.toString().startsWith('220'))
      peer.end('QUIT\r\n')
    },
    close: end,
    error: end,
    connectError: end,
  }
  await Bun.connect({ hostname: '127.0.0.1', port, socket }).catch(end)
  return promise
}

function mainOf({ folder, sinkPort, isHeld }: Stage, isSigning: boolean): string {
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
    `relayhost = [127.0.0.1]:${sinkPort}`,
    'smtp_dns_support_level = disabled',
    'smtpd_peername_lookup = no',
    ...(isHeld ? ['smtpd_client_restrictions = static:HOLD'] : []),
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
