import { createServer } from 'node:net'

/** A loopback port that is currently free on every address. Stays below the ports that Linux gives to outgoing connections (ip(7),
 *  ip_local_port_range), so that no connection takes it before the caller listens. Throws when 100 ports in a row are taken. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = LOWEST + Math.floor(Math.random() * (LINUX_OUTGOING - LOWEST))
    if (await isFree(port)) return port
  }
  throw new Error('no free port found')
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer()
  const isListening = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false))
    probe.listen(port, '0.0.0.0', () => resolve(true))
  })
  if (isListening) await new Promise((resolve) => probe.close(resolve))
  return isListening
}

const LOWEST = 10_000
const LINUX_OUTGOING = 32_768
