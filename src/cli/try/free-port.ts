import { createServer } from 'node:net'
import type { TryPorts } from './open.ts'

/** Replaces ports that are in use on 127.0.0.1 with 0, which means any free port. Fixed ports keep
 *  copied commands valid. */
export async function freePorts({ http, inbound, submission }: TryPorts): Promise<TryPorts> {
  return { http: await ifFree(http), inbound: await ifFree(inbound), submission: await ifFree(submission) }
}

function ifFree(port: number): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(0))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(port)))
  })
}
