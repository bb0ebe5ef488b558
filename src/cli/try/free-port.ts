import { createServer } from 'node:net'
import type { TryPorts } from './open.ts'

/** The preferred ports, so that copied commands keep working; 0 for those in use. */
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
