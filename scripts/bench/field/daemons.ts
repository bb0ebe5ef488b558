import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { bodies } from '../bodies.ts'
import { deliver } from '../peers.ts'
import { until } from '../process.ts'
import type { Running, Stage } from './contender.ts'
import { makeGroup } from './group.ts'

/** The address where a resolver without a port setting finds the names. */
export const NAME_SERVER = { host: '127.0.53.1', port: 53 }

/** Daemons that together are a mail server on a port → the server, once it sends a greeting there. They stay in the
 *  foreground; their output goes to `log` in the folder. Rejects with the end of it when one of them ends. */
export async function startDaemons(
  { folder, sink, names, mail }: Stage,
  { port, commands, isStepwise = false }: Daemons,
): Promise<Running> {
  const group = makeGroup()
  const log = `${folder}/log`
  const failed = commands.map(async (command) => {
    await group.run(names.length === 0 ? command : askingUs(folder, command), log)
    throw new Error(`${command[0]} ended:\n${readFileSync(log, 'utf8').slice(-2_000)}`)
  })
  try {
    await Promise.race([until(() => greets(port)), ...failed])
  } catch (error) {
    await group.end()
    throw error
  }
  const extra = isStepwise ? 'stepwise' : ''
  const server = { smtpInbound: `127.0.0.1:${port}` }
  return {
    send: (connections, count) => deliver(server, connections, count, mail.file, mail.to, extra),
    sendTo: async (addresses) => {
      const list = `${folder}/addresses`
      writeFileSync(list, addresses.join('\n'))
      await deliver(server, 20, addresses.length, bodies.smtp(folder, 1_024), `@${list}`, extra)
    },
    passedOn: sink.mails,
    cpuSeconds: group.cpuSeconds,
    stop: group.end,
  }
}

interface Daemons {
  port: number
  commands: string[][]
  /** It accepts mail faster when each command waits for the previous reply. */
  isStepwise?: boolean
}

/** A command that finds our DNS in /etc/resolv.conf, which is unchanged for all other processes. */
function askingUs(folder: string, command: string[]): string[] {
  const file = `${folder}/resolv.conf`
  writeFileSync(file, `nameserver ${NAME_SERVER.host}\n`)
  const script = `mount --bind ${file} /etc/resolv.conf && exec "$@"`
  return ['/usr/bin/unshare', '--mount', '/bin/sh', '-c', script, 'asking-us', ...command]
}

function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.setTimeout(1_000, () => socket.destroy())
    socket.on('error', () => resolve(false))
    socket.on('close', () => resolve(false))
    socket.on('data', () => {
      socket.end('QUIT\r\n')
      resolve(true)
    })
  })
}
