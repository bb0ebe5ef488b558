import { connect, type Socket } from 'node:net'
import { freePort } from '../../support/free-port.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { exitOf, makeTestInstallation } from '../setup.ts'
import { look, send } from './ask.ts'
import { type Fault, unless } from './fault.ts'
import { cpuSeconds } from './process.ts'

const LIMIT = 256
const MOST_CPU = 0.5
const BACK_MS = 5_000

/** Few descriptors and many connections that send nothing, half a command, or nothing after the greeting. */
export const descriptors: Fault = {
  name: 'files',
  needs: [],
  rounds: { long: 2_000, short: 400 },
  run: async ({ rounds: count, program }) => {
    const port = await freePort()
    const installation = await makeTestInstallation({ program, smtp: `[smtp.inbound]\nlisten = "127.0.0.1:${port}"` })
    try {
      const server = await installation.serve(['prlimit', `--nofile=${LIMIT}`])
      const floods: string[] = []
      const broken: string[] = []
      const slow: string[] = []
      for (const { name, to, says } of [
        { name: 'http-silent', to: installation.port, says: '' },
        { name: 'http-half-a-word', to: installation.port, says: 'GET /x HTT' },
        { name: 'smtp-silent', to: port, says: '' },
      ]) {
        const sockets = Array.from({ length: count }, () => opened(to, says))
        await Bun.sleep(1_500) // the kernel passes silent connections on after a second
        const before = cpuSeconds(server.pid!)
        await Bun.sleep(2_000)
        const cpu = (cpuSeconds(server.pid!) - before) / 2
        const backMs = await backAfter(async () => (await send(installation, name)).status === 202)
        for (const socket of sockets) socket.destroy()
        floods.push(`${name} ${cpu.toFixed(2)} processors, back in ${backMs.toFixed(0)} ms`)
        broken.push(...unless(cpu <= MOST_CPU, `${name}: no busy loop`))
        broken.push(...unless(backMs < PATIENCE_MS, `${name}: it accepts messages again while they stay open`))
        slow.push(...unless(backMs <= BACK_MS, `${name}: it accepts messages again after ${backMs.toFixed(0)} ms`))
      }
      const last = await look(installation, '/readyz')
      server.kill('SIGTERM')
      const code = await exitOf(server)
      broken.push(...unless(last.status === 200 && code === 0, 'ready afterwards, and exit code 0'))
      return { figures: `${LIMIT} files, ${count} connections: ${floods.join('; ')}`, broken, slow }
    } finally {
      await installation.close()
    }
  },
}

function opened(port: number, says: string): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {})
  if (says !== '') socket.write(says)
  return socket
}

async function backAfter(works: () => Promise<boolean>): Promise<number> {
  const beganAt = performance.now()
  while (!(await works()) && performance.now() - beganAt < PATIENCE_MS) await Bun.sleep(100)
  return performance.now() - beganAt
}
