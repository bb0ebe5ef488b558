import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { freePort } from '../../../test/support/free-port.ts'
import type { Contender, Stage } from './contender.ts'
import { startDaemons } from './daemons.ts'
import { signingKey } from './signing-key.ts'

/** Haraka with its outbound queue, or accepting inbound mail; a process for each core, as its performance guide
 *  advises; from npm, in `--data`. It answers pipelined commands in separate packets, each of which waits for the
 *  other side's kernel: authenticating inbound mail, it is twice as fast without pipelining. */
export const haraka: Contender = {
  name: 'Haraka',
  needs: (tools) => ({
    [`${tools}/node_modules/Haraka/package.json`]:
      'npm install Haraka haraka-plugin-dkim haraka-plugin-spf in that folder',
  }),
  mails: { warmUp: 2_000, sent: 2_500, accepted: 4_000, inbound: 3_000 },
  open: (stage) => open(stage, false),
}

export const harakaSigning: Contender = {
  name: 'Haraka + dkim',
  needs: haraka.needs,
  mails: { warmUp: 2_000, sent: 2_000, accepted: 4_000 },
  open: (stage) => open(stage, true),
}

async function open(stage: Stage, isSigning: boolean) {
  const { folder, tools, sink, manner } = stage
  const port = await freePort()
  for (const name of ['config/dkim/bench.example', 'queue', 'plugins']) {
    mkdirSync(`${folder}/${name}`, { recursive: true })
  }
  copyFileSync(`${tools}/node_modules/Haraka/config/connection.ini`, `${folder}/config/connection.ini`)
  const write = (name: string, ...lines: string[]) => writeFileSync(`${folder}/config/${name}`, `${lines.join('\n')}\n`)
  write('smtp.ini', `listen=127.0.0.1:${port}`, 'nodes=cpus')
  write('me', 'mail.bench.example')
  write('log.ini', '[main]', 'level=notice', 'format=default')
  write('dkim.ini', '[sign]', `enabled=${isSigning}`, `headers=${SIGNED}`, '[verify]', `enabled=${manner === 'check'}`)
  if (manner === 'check') {
    write('plugins', 'discard', 'spf', 'rcpt_to.in_host_list', 'dkim')
    write('host_list', 'bench.example')
    writeFileSync(`${folder}/plugins/discard.js`, DISCARD)
  } else {
    write('plugins', 'relay', ...(isSigning ? ['dkim'] : []))
    write('relay.ini', '[relay]', 'acl=true', 'force_routing=true')
    write('relay_acl_allow', '127.0.0.0/8')
    write('relay_dest_domains.ini', '[domains]', `any={"action":"accept","nexthop":"127.0.0.1:${sink.port}"}`)
    write('outbound.ini', `disabled=${manner === 'hold'}`)
  }
  if (isSigning) {
    copyFileSync(signingKey(folder), `${folder}/config/dkim/bench.example/private`)
    write('dkim/bench.example/selector', 's1')
  }
  const command = ['/usr/bin/env', 'node', `${tools}/node_modules/Haraka/bin/haraka`, '-c', folder]
  return startDaemons(stage, { port, commands: [command], isStepwise: true })
}

/** Those of its own example. */
const SIGNED = 'From, Sender, Reply-To, Subject, Date, Message-ID, To, Cc, MIME-Version, Content-Type'

/** A plugin that discards accepted mail, because forwarding costs more than half of the rate; without it SPF skips
 *  mail from loopback. */
const DISCARD = `
exports.hook_queue = (next) => next(OK)
exports.hook_connect_init = (next, connection) => {
  connection.set('remote.is_private', false)
  next()
}
`
